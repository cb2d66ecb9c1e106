"""The words with which sites end an article: headings of what follows, prompts, credits,
advertisements.

Closed lists of phrases in the languages that most pages are written in; each pattern is anchored,
so that prose holding the same words is left alone. All but the credits of captions and the notices
of cookies are matched against text in small letters: ignoring case costs three times as much.
"""

from __future__ import annotations

import re

__all__ = [
    "BYLINE",
    "CAPTION_CREDIT",
    "COMMENTS",
    "COOKIES",
    "CREDIT",
    "DATED",
    "ENDING",
    "FURNITURE",
    "LINKED_BYLINE",
    "NOTICE",
    "NOTICE_WORDS",
    "PLEA",
    "POINTER",
    "PRICE",
    "PROMPT",
    "SOURCES",
]

ENDING = re.compile(
    r"""^\W*(?:
    related\s(?:posts?|articles?|content|stories|story|coverage|topics|links|news|reading|products|pages|searches|videos?|items)
    |(?:top\s(?:rated\s)?|latest\s|reader\s)comments|comment\son\sthis\s(?:article|post|story|page)
    |(?:related|recommended|comments?|share|tags|categories|newsletter|advertisement|sponsored
    |trending|popular)\W*$
    |recommended\s(?:for|by|stories|articles|reading)|you\s(?:may|might)\s(?:also\s)?(?:like
    |enjoy|be\sinterested|have\smissed)
    |more\s(?:\w+\s){1,3}stories\W*$
    |more\s(?:from|stories|news|articles|posts|like\sthis|in\sthis|on\sthis|about\sthis|for\syou
    |to\sread|coverage|by\s)
    |for\smore\son\sthis|read\s(?:more|next|also|further)\b|up\snext|don'?t\smiss
    |in\scase\syou\smissed
    |about\sthe\sauthors?\W*$|written\sby\W*$|share\sthis|all\ssharing\soptions\sfor
    |(?:there\sare\s)?\d+\s(?:comments?|responses?|replies
    |thoughts)\b|leave\sa\s(?:reply|comment)|post\sa\scomment|add\sa\scomment
    |join\sthe\s(?:conversation|discussion)|what\sdo\syou\sthink\?|say\syour\swords|filed\sunder
    |sign\sup\s(?:for|to)|subscribe\sto|follow\sus|stay\s(?:up.to.date|connected|informed|in\stouch)
    |(?:latest|recent|top|popular|most\sread|most\spopular|other)\s(?:news|posts|stories|articles
    |headlines|videos)|support\s(?:us|our|this)|get\sthe\slatest|connect\swith\sus
    |verwandte|ähnliche\s(?:beiträge|artikel|themen|produkte)|weitere\s(?:artikel|beiträge|themen
    |informationen|infos|meldungen|nachrichten|news|links|\w+tipps)\b|mehr\s(?:zum\sthema|artikel
    |nachrichten|zu\sdiesem|aus\sder|aus\sdem|von\s\w+$)
    |(?:das|dies|diese\sartikel|das\sthema)\skönnten?\s(?:sie|dich|euch)|zum\sweiterlesen|lesetipps?\W*$|(?:auch|ebenfalls)\sinteressant|lesen?\ssie\s(?:auch|mehr
    |dazu)|lies\sauch|über\s(?:den|die)\sautor|zur\sperson\W*$|neueste\s(?:artikel|beiträge
    |kommentare|nachrichten)|schon\sgelesen
    |like\sthis:\W*$|gefällt\smir:\W*$|(?:meistgelesene?|beliebteste?)\s(?:artikel|beiträge)
    |kommentare?\s?(?:\(\d+\))?\W*$|\d+\skommentare?|kommentar\s(?:schreiben|verfassen|hinterlassen)
    |hinterlasse\s|schreiben?\s(?:sie\s)?einen\skommentar|(?:artikel|beitrag)\steilen|teilen\W*$
    |bewerten\W*$|kontakt\W*$|ansprechpartner|pressekontakt|bildnachweis
    |letzte\s(?:änderung|aktualisierung)|möchten\ssie\sden\sartikel|unterstützen?\s
    |jetzt\s(?:abonnieren|teilen)
    |à\slire\s(?:aussi|également)|articles\s(?:liés|similaires|associés|récents|connexes)
    |sur\sle\smême\s(?:sujet|thème)|voir\saussi|partager\W*$|commentaires?\W*$
    |à\spropos\sde\sl.auteur|lire\s(?:aussi|la\ssuite)|pour\saller\splus\sloin
    |(?:artículos|noticias|contenidos?|notas|temas)\srelacionad|te\spuede\sinteresar|también\ste
    |lee\stambién|comentarios?\W*$|compartir|sobre\s(?:el|la)\sautor|más\s(?:noticias|información
    |sobre|de\s)|ver\smás
    |leia\s(?:também|mais)|veja\s(?:também|mais)|(?:artigos|notícias|posts)\srelacionad
    |comentários?\W*$|compartilh|sobre\so\sautor
    |leggi\s(?:anche|tutto)|articoli\scorrelati|potrebbe(?:ro)?\sinteressarti|commenti\W*$
    |condividi|lees\s(?:ook|meer|verder)|gerelateerd|reacties\W*$
    |czytaj\s(?:też|także|również|więcej)|zobacz\s(?:też|także|również|więcej)|polecane|powiązane
    |komentarze|udostępnij|podobne\s|dowiedz\ssię\swięcej
    |читайте\s(?:также|ещё|еще)|похожие\s|(?:материалы|новости|статьи)\sпо\sтеме|комментарии
    |поделиться|смотрите\sтакже|об\sавторе|обсуждение\W*$|популярн
    |ilgili\s(?:haberler|yazılar)|yorum(?:lar)?\W*$|paylaş
    |相关(?:阅读|文章|新闻|推荐|链接|资讯)|推荐阅读|延伸阅读|更多|评论|分享|热门|関連(?:記事|リンク|ニュース)|おすすめ|コメント|シェア|あわせて読みたい
    |관련\s?(?:기사|뉴스)|댓글
    )""",
    re.X,
)
"""A heading, or a short line, after which nothing of the article follows."""

COMMENTS = re.compile(
    r"\W*(?:(?:there\sare\s)?\d+\s(?:comments?|responses?|replies|thoughts|kommentare|comentarios|"
    r"commentaires|комментари\w+)(?:\s(?:so\sfar|on|to|zu|sur|en)\b.*)?|"
    r"(?:comments?|kommentare|comentarios|commentaires|комментарии)\s?\(\d+\)|"
    r"(?:top\s(?:rated\s)?|latest\s|reader\s|user\s|all\s)comments|"
    r"(?:leave|post|add|write)\sa\s(?:comment|reply)|join\sthe\s(?:conversation|discussion)|"
    r"(?:kommentar|einen\skommentar)\s(?:schreiben|verfassen|hinterlassen))\W*",
)
"""The heading of readers' comments, nothing else, in small letters; one that can't head a section
of a text."""

PROMPT = re.compile(
    r"copyright|all rights reserved|alle rechte vorbehalten|todos los derechos|"
    r"tous droits réservés|follow (?:us|me|him|her|them|@|\w+ on)|subscribe|sign up|newsletter|"
    r"share (?:this|on|via)|click here|read more|read also|read next|see also|also read|"
    r"related:|more from|more on|recommended|you may also|you might also|"
    r"leave a (?:comment|reply)|join the|download (?:the|our)|have a (?:tip|story)|"
    r"contact (?:us|the)|email (?:us|the)|send (?:us|your)|submit (?:your|a) |"
    r"this (?:article|story|post) (?:was|is|has been|originally|first)|originally (?:published|"
    r"appeared)|tagged|filed under|posted in|tags?:|categories:|topics:|category ?:|"
    r"folgen sie|abonnieren|weiterlesen|mehr zum thema|lesen sie auch|auch interessant|"
    r"unterstützen sie|bei fragen|suscr[ií]b|s[ií]guenos|lea también|abonnez|lire aussi|à lire|"
    r"подпис|читайте также|"
    r"support (?:us|our)|donate|become a (?:member|patron|subscriber)|thanks for reading|"
    r"like us|on (?:facebook|twitter|instagram)|terms of (?:use|service)|privacy policy|cookie|"
    r"we want to hear|get the latest|straight to your|last (?:modified|updated)|letzte änderung|"
    r"zuletzt (?:geändert|aktualisiert)|publiziert:|%d",
)
"""Words of closing prompts and notices, in small letters; believed in short blocks at the end."""

SOURCES = re.compile(
    r"\W*(?:"
    r"(?:notes|sources?|references?|works cited|bibliography)(?:(?: and |\W+)[a-z]+){0,2}|"
    r"(?:external|useful) links|further reading|"
    r"quellen(?:angaben|verzeichnis)?|einzelnachweise|literatur(?:verzeichnis)?|weblinks|"
    r"références|bibliographie|liens externes|notes et références|"
    r"fuentes|referencias|bibliografía|enlaces externos|"
    r"fontes|referências|ligações externas|fonti|bibliografia|collegamenti esterni|"
    r"bronnen|źródła|przypisy|linki zewnętrzne|источники|примечания|литература|ссылки|"
    r"kaynakça|kaynaklar|参考(?:资料|文献|链接)|外部链接|出典|脚注|外部リンク|출처|참고 ?문헌|"
    r"المصادر|المراجع)\W*",
)
"""The heading over what an article rests on, in small letters, nothing else."""

COOKIES = re.compile(
    r"\b(?:us(?:es?|ing)|verwende[nt]?|nutz(?:t|en)|setz(?:t|en)|utilis\w+|utiliz\w+|usa|usamos|"
    r"gebruik\w*|używa\w*|использу\w+) (?:[\w.,-]+ ){0,3}?"
    r"(?:cookies|plik\w+ cookie|файл\w* cookie)",
    re.I,
)
"""What a notice about cookies says, however long it is."""

PLEA = re.compile(
    r"value your privacy|stor(?:e|ing) and/?(?:or )?access(?:ing)? information on|"
    r"(?:accept|manage|reject) (?:all )?cookies|we use cookies|this (?:web)?site uses cookies|"
    r"partners? (?:store|process|use) |wir (?:verwenden|nutzen|setzen) cookies|"
    r"alle cookies akzeptieren|nous utilisons des cookies|accepter (?:tous )?les cookies|"
    r"(?:usamos|utilizamos|utilizziamo|używamy) (?:i )?(?:cookies?|plików cookie)|"
    r"мы используем (?:файлы )?cookie|使用\s?cookie",
    re.I,
)
"""What a box says that asks for consent to cookies."""

NOTICE = re.compile(
    r"^(?=.*\b(?:links?|(?:this|our)\s(?:page|article|post|site|website|content))\b).*"
    r"\b(?:may|might|can)\s(?:also\s)?(?:receive|earn|get|make)\s(?:an?\s)?(?:\w+\s)?"
    r"(?:commissions?|compensation)\b|"
    r"^(?=.*\blinks?\b).*\b(?:erhält|erhalten)\s(?:\w+\W+){0,3}eine\s(?:\w+\s)?provision\b|"
    r"\b(?:this|these|our)\b.{0,60}\b(?:contains?|includes?|are|uses?)\s(?:\w+\s)?affiliate[-\s]links?|"
    r"\b(?:sind|enthält|enthalten)\s.{0,40}affiliate[-\s]?links?|recommend\sthe\sbest\sproducts\b|"
    r"\b(?:cet?|cette|nos|este|esta)\b.{0,60}(?:liens?\saffiliés?|enlaces?\sde\safiliados?)|"
    r"externe[rns]?\s(?:\w+\s)?inhalte?\b.{0,60}(?:angezeigt|anzeigen|geladen|ergänzt)|"
    r"empfohlener\s(?:redaktioneller|externer)\sinhalt\W*$|"
    r"(?:damit|dazu)\s(?:können|werden)\spersonenbezogene\sdaten\san\s|"
    r"ohne\sdeine?\s(?:einverständnis|zustimmung|einwilligung)\skeine\sverbindung|"
    r"mit\sdem\s(?:laden|klick|abspielen|aufruf)\b.{0,60}\bakzeptier|"
    r"(?:article|page|post)\s(?:contains|includes)\scontent\s(?:provided|hosted)\sby|"
    r"before\sanything\sis\sloaded|^\W*(?:allow|recommended)\s(?:\w+\s){0,2}content\W*$|"
    r"(?:view|see|watch|play|display)\sthis\s(?:\w+\s)?(?:content|video|post|tweet|embed)\b"
    r".{0,40}\b(?:enable|allow|accept|turn\son)\b.{0,30}(?:cookies|javascript)|"
    r"(?:enable|allow|accept|turn\son)\s(?:\w+\s)?(?:cookies|javascript)\s(?:\w+\s){0,3}"
    r"(?:view|see|watch|play|display)\sthis|"
    r"(?:ce|cet)\s(?:contenu|élément)\b.{0,60}\bcookies|"
    r"(?:ver|visualizar)\seste\s(?:contenido|conteúdo|video|vídeo)\b.{0,60}cookies|"
    r"^\W*your\sbrowser\sdoes\snot\ssupport\s(?:the|html5|embedded|this)",
)
"""What tells that a site is paid for its links, or stands in the place of another site's post or
video until its reader agrees, in small letters; believed in short blocks."""

NOTICE_WORDS = (
    "affili",
    "afiliad",
    "commission",
    "compensation",
    "provision",
    "recommend the",
    "inhalt",
    "content",
    "cookies",
    "javascript",
    "is loaded",
    "personenb",
    "akzeptier",
    "keine verb",
    "browser does",
)
"""What `NOTICE` can only match near: looking for these is far quicker."""

_MONTH = (
    r"(?:jan|ene|gen|feb|fév|mar|mär|apr|abr|avr|may|mai|mag|jun|jui|giu|jul|lug|aug|ago|aoû|sep|"
    r"set|oct|okt|ott|nov|dec|dez|déc|dic)[a-zäéû]*\.?"
)
DATED = re.compile(
    r"\W*(?:stand|aktualisiert|zuletzt (?:aktualisiert|geändert)|veröffentlicht|erstellt|"
    r"published|first published|updated|last (?:updated|modified|edited)|posted|"
    r"publié|mis à jour|publicado|actualizado|atualizado|pubblicato|aggiornato|ultima modifica)"
    r"(?:\s(?:on|at|am|vom|le|el|il|em))?\s?:?\W{0,3}(?:\d\d?:\d\d\s?(?:[ap]m)?\W*(?:[a-z]{2,4}\W+)?)?"
    rf"(?:[a-zäéí]{{3,10}}\W+)?(?:\d\d?[./-]\d|\d\d?\.?\s{_MONTH}|{_MONTH}\s\d|\d{{4}}-\d\d).{{0,40}}",
)
"""A line that only says when a page was published or changed, in small letters."""

PRICE = re.compile(r"[€$£¥₹₽]\s?\d|\d\s?(?:[€$£¥₹₽]|eur|usd|gbp|chf|zł|kr\b|kč|руб|円|元)", re.I)
"""A sum of money."""

POINTER = re.compile(
    r"""^\W*(?:
    (?:read|see|watch|listen|learn|find\sout|click|check\sout|view|continue)\s(?:more|also|next|here|this|further|reading)\b
    |(?:related|recommended|read|see|more|also|watch|listen|trending|must[-\s]read|further\sreading|don'?t\smiss|mira|lea|leia|veja|
    ver|vea|lire|voir|siehe|mehr|video|foto|podcast|exclusive)\b[^.!?:]{0,40}:
    |more\s(?:on|from|about)\b|related\b|also\sread|lesen\ssie|auch\sinteressant|weiterlesen|mehr\s(?:zu|zum|dazu)|siehe\sauch
    |(?:le|te|les)\spuede\sinteresar|puede[ns]?\s(?:ver|leer)\b|(?:lea|lee|mira|ver)\s(?:además|también)
    |lire\saussi|à\slire|voir\saussi|ver\smás|lee\stambién|lea\stambién|relacionad[oa]s?|leggi\sanche|leia\stambém|veja\stambém
    |czytaj|zobacz|dowiedz\ssię|szukasz|polecamy|читайте|смотрите
    )""",
    re.X,
)
"""The start of a line that only points to another page."""

BYLINE = re.compile(
    r"^\W*(?:by|von|par|por|di|written by|posted|published|updated|last updated|first published|"
    r"author|text|photo|photos|photograph|image|credit|foto|fotos|source|quelle|fuente|"
    r"autor|auteur|автор|作者|aktualisiert|veröffentlicht|publié|publicado|modified|reviewed|"
    r"edited|share|tweet|print|email|comments?|advertisement|advert|anzeige|werbung|publicidad|"
    r"publicité|release date)\b",
)
"""The start of a line that names author, date or source."""

LINKED_BYLINE = re.compile(
    r"\W*(?:by|von|par|por|di|door)\W+[^\]\n]{0,60}\]\([^()\s]*/(?:authors?|autor(?:en|es)?|people|staff|"
    r"team|meet-the-team|profiles?|users?|writers?|journalists?|by|redakt\w+|contributors?)/",
)
"""The start of a line, as Markdown in small letters, that names an author and leads to what else is
theirs."""

CREDIT = re.compile(
    r"^\W*(?:(?:photo|foto|image|bild|picture|credit|crédito|crédit|source|quelle|fuente|"
    r"fonte)s?(?:\s(?:credit|courtesy|by|via|source|photo)s?)?\s?[:/©]|©|\(c\)|(?:photo|image|"
    r"foto)\s(?:by|via|courtesy)\b|getty images|shutterstock|thinkstock)",
)
"""The start of a line that only credits a picture."""

CAPTION_CREDIT = re.compile(
    r"\s*[(\[|–—-]?\s*(?:(?:photo|foto|image|bild|picture|credit|crédito|crédit|quelle|source|fuente|fonte|copyright)"
    r"s?(?:\s(?:credit|by|via|courtesy))?\s?[:/©]|©|\(c\))(?:[^.!?]|\.(?=\w)){2,160}$",
    re.I,
)
"""The end of a caption that credits its picture."""

FURNITURE = re.compile(
    r"\W*(?:advert|advertisement|advertising|anzeige|werbung|publicité|publicidad|publicidade|"
    r"pubblicità|реклама|reklama|sponsored|sponsored content|ad|"
    r"article continues below(?: advertisement)?|"
    r"story continues below(?: advertisement)?|continue reading below|"
    r"continue reading the main story|广告|広告|"
    r"(?:image|photo|picture|slide|bild|foto) \d+ (?:of|von|de)\W*\d+|\d+ of \d+|\d+\s+/\s+\d+|"
    r"back to (?:gallery|top)|caption|close|(?:show|hide|toggle) caption|"
    r"enlarge(?: this)?(?: image)?|"
    r"media playback is unsupported on your device|(?:play|watch) (?:the )?video|loading|"
    r"view (?:gallery|slideshow|all comments|comments)|(?:read|show|see) (?:all|more) comments|"
    r"(?:share|tweet)(?: this)?(?: (?:on|via|to) (?:facebook|twitter|x|linkedin|whatsapp|email))?|"
    r"copy (?:link|url)|link copied|listen to this article|"
    r"to read the full story|try it (?:yourself|live|now)|run (?:code|example|snippet)|"
    r"edit (?:this page|on github)(?: on github)?|view on github|copy code|运行实例|亲自试一试|"
    r"(?:like|gefällt mir)\W*(?:loading|wird geladen)|"
    r"(?:mit freunden|(?:diesen? )?(?:artikel|beitrag|seite|news)) teilen|"
    r"mehr (?:erfahren|anzeigen)|(?:artikel|seite|beitrag) (?:drucken|anhören)|nach oben|"
    r"bearbeiten|编辑(?:本段)?|編集)\W*",
)
"""A line that announces an advertisement or is a tool of the page, nothing else, in small
letters."""
