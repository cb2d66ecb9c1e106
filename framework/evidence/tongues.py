"""The same orders in other languages: stems of a few ideas, and which ideas together make an order.

Stems are folded as `disguise.fold` folds text (lower case, no accents). All ideas of a rule must
be found in the same sentence; their order does not matter, for languages differ in it.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

from framework.evidence.disguise import fold

__all__ = ["CALLING", "IDEAS", "RULES", "calls", "heralded"]

_TABLE = tomllib.loads((files("framework.evidence") / "data/tongues.toml").read_text("utf-8"))


def _begins(stem: str) -> str:
    """Short Latin stems must be whole words: two or three letters begin too many words."""
    folded = fold(stem)
    if "\u05d0" <= folded[0] <= "\u064a":
        return rf"[\u05d0-\u064a]{{0,2}}{folded}"  # articles and conjunctions are written in front
    return rf"{folded}\b" if len(folded) <= 3 and folded.isascii() else folded


def _idea(words: list[str], runs: list[str]) -> re.Pattern[str]:
    anywhere = "|".join(map(fold, runs))
    begins = rf"(?<!\w)(?:{'|'.join(map(_begins, words))})"
    return re.compile(f"{begins}|(?:{anywhere})" if anywhere else begins)


#: The expression of every idea, by name.
IDEAS: dict[str, re.Pattern[str]] = {
    name: _idea(idea["words"], idea["runs"]) for name, idea in _TABLE["idea"].items()
}

_MIND = "|".join(map(_begins, _TABLE["idea"]["mind"]["words"]))
_MIND_RUNS = "|".join(map(fold, _TABLE["idea"]["mind"]["runs"]))
_HERALDS = "|".join(map(fold, _TABLE["calling"]["heralds"]))
_CONDITIONS = "|".join(map(fold, _TABLE["calling"]["conditions"]))
_IF = "|".join(map(fold, _TABLE["calling"]["ifs"]))
_READS = "|".join(map(fold, _TABLE["calling"]["reads"]))
#: Guides and explanations have a machine's name and a colon, too.
_HOW = "使い方|方法|とは|について|用法|教程|사용법"
CALLING = re.compile(
    rf"^\W*(?:(?:{_HERALDS})\W*(?:[\w-]+\W+){{0,4}}?)?(?:{_MIND})[\w-]*"
    rf"(?:[ -][\w'’-]+){{0,6}}?\s?[:,!،؛]"
    rf"|^\W*(?:{_HERALDS})\W*(?:[\w-]+\W+){{0,3}}?(?:{_MIND})[\w-]*\s*$"
    rf"|^\W*(?:{_CONDITIONS})\W+(?:[\w-]+\W+){{0,4}}?(?:{_MIND})"
    rf"|^\W*(?:{_IF})\W+(?:[\w-]+\W+){{0,2}}?(?:{_MIND})[^.]{{0,40}}?\b(?:{_READS})"
    rf"|^(?=.*[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]).{{0,24}}?(?:{_MIND_RUNS})(?:(?:(?!{_HOW})[^，,]){{0,8}}?(?:请|請|注意|[:：！!]|へ(?!の)|への(?:指示|お願い|注意|メッセージ|連絡|通知|依頼)|에게|께)|.{{0,2}}[，,])"
)


_HERALDED = re.compile(
    rf"^\W*(?:{_HERALDS}|{_CONDITIONS}|{_IF})|^.{{0,6}}(?:给|致|各位|亲爱的|所有|へ|에게)"
)


def heralded(folded: str) -> bool:
    """Tell whether a sentence that calls does so with a salutation or a condition."""
    return bool(_HERALDED.search(folded))


def calls(folded: str) -> bool:
    """Tell whether the sentence speaks to a machine that reads, in another language."""
    return bool(CALLING.search(folded))


#: Kind of warning, weight, and the ideas that must all be in one sentence.
RULES: tuple[tuple[str, float, frozenset[str]], ...] = tuple(
    (rule["kind"], rule["weight"], frozenset(rule["ideas"])) for rule in _TABLE["rule"]
)
