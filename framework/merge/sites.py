"""What well-known sites are known to treat as one page: case of names, slugs, short and long forms.

Each rule is a fact about one site's routing, keyed by its folded host; a site that is not listed
keeps its path as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from framework.merge.hosts import words
from framework.merge.tracking import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.merge.hosts import Host

__all__ = ["Place", "fold_site", "fold_view"]

#: A page inside a site: host name, path segments, decoded parameters.
Place = tuple[str, list[str], list[Pair]]

#: How many leading path segments are names whose case the site ignores.
_CASELESS = {
    "github.com": 2,
    "x.com": 1,
    "instagram.com": 1,
    "reddit.com": 2,
    "doi.org": 99,
}

#: Sites where an id stands in front of a free-text slug: words before the id, at its position.
_SLUGS = {
    "stackoverflow.com": ("questions", 1),
    "stackexchange.com": ("questions", 1),
    "superuser.com": ("questions", 1),
    "serverfault.com": ("questions", 1),
    "askubuntu.com": ("questions", 1),
    "mathoverflow.net": ("questions", 1),
    "reddit.com": ("comments", 3),
}

#: Hosts whose first segments are chosen by their users, so `amp` and `print` are names there.
_NAMED_BY_USERS = words(
    "github.com gitlab.com bitbucket.org codeberg.org x.com"
    " instagram.com facebook.com medium.com reddit.com youtube.com wikipedia.org wiktionary.org"
    " amp.dev huggingface.co"
)

#: Collections whose last segment is the thing itself, so `amp` or `print` is a subject there.
_COLLECTIONS = words(
    "dictionary definition define word words term terms glossary wiki tag tags topic topics"
    " category categories c package packages project projects product products brand brands docs"
    " doc component components search user users author authors shop store collections api"
    " reference functions library lib keyword keywords abbreviation acronym man stable latest"
    " tutorial tutorials guide guides commands services service en de fr es"
)

_ARXIV_KINDS = frozenset({"abs", "pdf", "html", "format", "ps"})
_ASIN = re.compile(r"[A-Z0-9]{10}")
_DIGITS = re.compile(r"[0-9]+")


def fold_view(host: Host, segments: list[str]) -> None:
    """Remove from the path, in place, what only selects an AMP or print rendering."""
    if not segments or host.site in _NAMED_BY_USERS:
        return
    while len(segments) > 1 and segments[0] == "amp":
        del segments[0]
    while len(segments) > 1 and segments[-1] in {"amp", "print"} and _is_article(segments[-2]):
        del segments[-1]
    segments[-1] = _without_amp(segments[-1])


def _is_article(segment: str) -> bool:
    return segment.lower() not in _COLLECTIONS


def _without_amp(segment: str) -> str:
    stem, dot, extension = segment.rpartition(".")
    while dot and stem.endswith(".amp") and len(stem) > 4:
        stem = stem[: -len(".amp")]
        segment = f"{stem}.{extension}"
    while segment.endswith(".amp") and len(segment) > 4:
        segment = segment[: -len(".amp")]
    return segment


def fold_site(host: Host, segments: list[str], pairs: list[Pair]) -> Place:
    """Return the place under the rules of its own site; unchanged for a site without any."""
    name = host.name
    if count := _CASELESS.get(name):
        segments = [part.lower() for part in segments[:count]] + segments[count:]
    if slug := _SLUGS.get(host.site):
        segments = _without_slug(segments, *slug)
    rule = _RULES.get(name) or _RULES.get(host.site) or _RULES.get(host.brand)
    return rule(name, segments, pairs) if rule else (name, segments, pairs)


def _without_slug(segments: list[str], word: str, position: int) -> list[str]:
    if len(segments) > position and segments[position - 1] == word:
        return segments[: position + 1]
    if word == "questions" and len(segments) > 1 and segments[0] == "q":
        return ["questions", segments[1]]
    return segments


def _github(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    if len(segments) == 2:
        segments = [segments[0], segments[1].removesuffix(".git") or segments[1]]
    return name, segments, pairs


def _wikipedia(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    """Titles: blanks are underscores, the first letter has no case, `index.php?title=` is long."""
    if segments == ["w"] and len(pairs) == 1 and pairs[0][0] == "title":
        title = quote(pairs[0][1].replace(" ", "_"), "-._~!$'()*,:@;&=+", errors="surrogateescape")
        if "%2F" not in title and title not in {"", ".", ".."}:
            segments, pairs = ["wiki", title], []
    if len(segments) == 2 and segments[0] == "wiki":
        title = segments[1].replace("%20", "_").strip("_") or segments[1]
        first = title[0].upper() if title[0].isascii() else title[0]
        segments = ["wiki", first + title[1:]]
    return name, segments, pairs


def _arxiv(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    if len(segments) > 1 and segments[0] in _ARXIV_KINDS:
        segments = [*segments[:-1], segments[-1].removesuffix(".pdf") or segments[-1]]
    return name, segments, pairs


def _handle(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    """hdl.handle.net resolves DOIs, too."""
    if segments and segments[0].startswith("10."):
        return "doi.org", [part.lower() for part in segments], pairs
    return name, segments, pairs


def _doi(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    """The slash in a DOI is often escaped."""
    return name, "/".join(segments).replace("%2f", "/").split("/"), pairs


def _paper(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    """`/paper/A-Title/ID` is `/paper/ID`."""
    if len(segments) == 3 and segments[0] == "paper":
        segments = ["paper", segments[2]]
    return name, segments, pairs


def _pubmed(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    if len(segments) == 2 and segments[0] == "pubmed" and _DIGITS.fullmatch(segments[1]):
        return "pubmed.ncbi.nlm.nih.gov", segments[1:], pairs
    if len(segments) == 3 and segments[:2] == ["pmc", "articles"]:
        return "pmc.ncbi.nlm.nih.gov", segments[1:], pairs
    return name, segments, pairs


def _amazon(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    """A product is its ASIN, whatever the title in front and the `ref=` behind it."""
    segments = [part for part in segments if not part.startswith("ref=")]
    for marker in (["dp"], ["gp", "product"], ["gp", "aw", "d"], ["exec", "obidos", "ASIN"]):
        for at in range(len(segments) - len(marker)):
            asin = segments[at + len(marker)]
            if segments[at : at + len(marker)] == marker and _ASIN.fullmatch(asin):
                return name, ["dp", asin], []
    return name, segments, pairs


def _ebay(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    if len(segments) == 3 and segments[0] == "itm" and _DIGITS.fullmatch(segments[2]):
        segments = ["itm", segments[2]]
    return name, segments, pairs


def _youtube(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    """`/embed/ID`, `/v/ID` and `/live/ID` are players of `/watch?v=ID`; handles have no case."""
    if len(segments) == 2 and segments[0] in {"embed", "v", "live"}:
        return _watch(name, segments[1], pairs)
    if segments and segments[0].startswith("@"):
        segments = [segments[0].lower(), *segments[1:]]
    return name, segments, pairs


def _youtu_be(name: str, segments: list[str], pairs: list[Pair]) -> Place:
    return (
        _watch("youtube.com", segments[0], pairs)
        if len(segments) == 1
        else (
            name,
            segments,
            pairs,
        )
    )


def _watch(name: str, video: str, pairs: list[Pair]) -> Place:
    if "%" in video or any(key == "v" for key, _ in pairs):
        return name, ["embed", video], pairs
    return name, ["watch"], [*pairs, ("v", video)]


_RULES: dict[str, Callable[[str, list[str], list[Pair]], Place]] = {
    "github.com": _github,
    "wikipedia.org": _wikipedia,
    "arxiv.org": _arxiv,
    "doi.org": _doi,
    "semanticscholar.org": _paper,
    "hdl.handle.net": _handle,
    "ncbi.nlm.nih.gov": _pubmed,
    "amazon": _amazon,
    "ebay": _ebay,
    "youtube.com": _youtube,
    "youtu.be": _youtu_be,
}
