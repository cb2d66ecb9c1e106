"""The sentences of a snippet that speak of the query."""

from __future__ import annotations

import re

__all__ = ["highlights"]

_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=\S)|(?<=[。！？])")
_WORD = re.compile(r"\w+")


def highlights(text: str, query: str, count: int) -> list[str]:
    """Return up to `count` sentences of `text`, those that share most words with `query`.

    They keep the text's order; sentences that share nothing are left out, unless none shares
    anything: then the first ones stand in.
    """
    sentences = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    wanted = set(_WORD.findall(query.casefold()))
    shared = [len(wanted & set(_WORD.findall(part.casefold()))) for part in sentences]
    best = sorted(range(len(sentences)), key=lambda i: (-shared[i], i))[:count]
    chosen = [i for i in best if shared[i]] or best
    return [sentences[i] for i in sorted(chosen)]
