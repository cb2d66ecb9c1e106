"""Words too common to say what a query is about, for the languages most searched in."""

from __future__ import annotations

from framework.merge.hosts import words

__all__ = ["STOP_WORDS"]

STOP_WORDS = (
    # English, with the words of questions and shopping
    words(
        "a an and are as at be been but by can could did do does for from had has have he her"
        " his how i if in into is it its me my no not of on one or our she should so than that"
        " the their them then there these they this those to up us was we were what when where"
        " which who whom whose why will with would you your about best top new vs versus good"
        " get make use using used way ways list all any free online"
    )
    # German
    | words(
        "der die das den dem des ein eine einer einem einen eines und oder aber ist sind war"
        " waren wie was wer wo wann warum welche welcher welches mit ohne fur von vom zu zum zur"
        " im in am an auf aus bei nach uber unter nicht kein keine ich du er sie es wir ihr man"
        " auch als so dass kann mein meine dein sein seine hat haben wird werden"
    )
    # French
    | words(
        "le la les l un une des du de d et ou mais est sont etait comment quel quelle quels"
        " quelles qui que quoi ou quand pourquoi avec sans pour par sur sous dans en au aux ce"
        " cet cette ces je tu il elle on nous vous ils elles ne pas plus se sa son ses mon ma"
        " mes"
    )
    # Spanish, Portuguese, Italian
    | words(
        "el los las lo al del y o es son era como que cual cuales quien donde cuando por para"
        " con sin sobre entre no si su sus mi mis tu tus se ha hay ser esta este esto uma um os"
        " as do da dos das e ou nao sim qual onde quando porque com sem em na nos seu sua meu"
        " minha il gli i uno di che chi cosa dove perche per tra fra nel nella sul sulla della"
        " dello delle degli dei sono suo sua piu"
    )
    # Dutch, Swedish, Danish, Norwegian
    | words(
        "het een en of maar is zijn was hoe wat wie waar wanneer waarom welke met zonder voor"
        " van naar op bij uit over onder niet geen ik jij hij zij wij och eller men ar var hur"
        " vad vem nar varfor vilken med utan for fran till pa av inte ett den det der som og"
        " ikke hvordan hvad hva hvor hvem hvorfor til fra"
    )
    # Polish, Czech, Turkish, Indonesian
    | words(
        "i w na z do o jak co kto gdzie kiedy dlaczego czy jest sa nie dla od po za sie ten ta"
        " to a se je jsou kde kdy proc ve s k pro bir ve ile icin ne nasil nerede neden kim mi"
        " bu su da yang dan di ke dari untuk apa bagaimana adalah"
    )
    # Russian, Ukrainian
    | words(
        "и в во на с со к ко о об от до из за по у для не ни как что кто где когда почему зачем"
        " какой какая какие это этот эта быть есть был а но или ли же бы мне я ты он она мы вы"
        " они його та що хто де коли чому як це для або з із зі від"
    )
)
