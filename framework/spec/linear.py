"""RE2 expressions so simple that Python's own engine finds the same, in linear time, far sooner.

`re2` encodes every text and counts characters back, which costs more than the search in texts of a
title's length. An expression passes here where it is one row of characters and classes, has at most
one repetition without a bound, and nothing behind that repetition that could fail at every place
anew. Whatever else is left to RE2.
"""

from __future__ import annotations

import re

__all__ = ["simple"]

#: RE2's white space, which has no vertical tab.
_SPACE = r"\t\n\f\r "
#: Items that may match in several ways: what backtracking multiplies, kept to a small constant.
_MAX_CHOICES = 3

_ITEM = re.compile(
    r"""
      (?P<open> \((?:\?:)? ) | (?P<close> \) (?![*+?{]) ) | (?P<start> \^ ) | (?P<end> \$ )
    | (?P<atom>
          \[ \^? (?: \\[dws!-/:-@\[-`{-~] | [^]\[\\&|~-] | [&|~](?![&|~])
                   | (?<=\w)-(?=\w) | -(?=\]) )+ \]
        | \\[dwsDWS!-/:-@\[-`{-~] | [^\\^$|?*+(){}\[\]]
      )
      (?P<times> \{\d{1,2}(?:,\d{1,2})?\} | [*+?] )? (?P<lazy> \? )?
    """,
    re.VERBOSE,
)


def simple(pattern: str) -> re.Pattern[str] | None:
    """Return the expression for Python's engine, None where only RE2 is safe or agrees.

    What is returned never matches the empty text.
    """
    items = _items(pattern)
    if items is None or not _is_linear(items):
        return None
    try:
        return re.compile("".join(map(_translated, items)), re.ASCII)
    except re.error:
        return None


def _items(pattern: str) -> list[re.Match[str]] | None:
    items: list[re.Match[str]] = []
    depth = at = 0
    while at < len(pattern):
        item = _ITEM.match(pattern, at)
        if item is None:
            return None
        depth += (item["open"] is not None) - (item["close"] is not None)
        if depth not in (0, 1) or (item["start"] and at) or (item["end"] and at + 1 < len(pattern)):
            return None
        items.append(item)
        at = item.end()
    return items if depth == 0 else None


def _is_linear(items: list[re.Match[str]]) -> bool:
    atoms = [item for item in items if item["atom"]]
    endless = [item for item in atoms if item["times"] in ("*", "+")]
    choices = [item for item in atoms if item["times"] not in (None, "*", "+")]
    needed = any((item["times"] or "+")[:2] not in ("*", "?", "{0") for item in atoms)
    if not needed or len(endless) > 1 or len(choices) > _MAX_CHOICES:
        return False
    anchored = items[0]["start"] is not None
    at_the_end = not endless or (endless[0] is atoms[-1] and not items[-1]["end"])
    return anchored or at_the_end


def _translated(item: re.Match[str]) -> str:
    if item["end"]:
        return r"\Z"
    atom = item["atom"] or ""
    if atom == r"\s":
        atom = f"[{_SPACE}]"
    elif atom == r"\S":
        atom = f"[^{_SPACE}]"
    elif atom.startswith("["):
        atom = atom.replace(r"\s", _SPACE)
    return atom + item[0][len(item["atom"] or "") :] if atom else item[0]
