"""Formulas once, as TeX: from annotations, attributes and scripts of the usual typesetters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from framework.reading import mathml
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.reading.dom import Dom

__all__ = ["inline", "is_display", "raw", "tex"]

_RENDERED = re.compile(
    r"(?:^|\s)(?:katex(?:-display)?|MathJax(?:_\w+)?|MathJax|mjx-\w+|mwe-math-element|"
    r"math-?(?:inline|display|block)?|tex2jax_\w+|katex--?\w+)(?:\s|$)"
)
_PREVIEW = re.compile(r"MathJax_Preview|MathJax_SVG|mjx-chtml|katex-html|MJX_Assistive")
_ATTRIBUTES = (
    "data-latex",
    "data-tex",
    "data-math",
    "alttext",
    "data-formula",
    "data-expr",
    "data-equation",
    "latex",
)
_DRAWN_CLASS = re.compile(r"(?:^|[\s_-])(?:latex|tex|mwe-math\S*|math|equation)(?:[\s_-]|$)", re.I)
_DRAWN_BY = re.compile(
    r"latex\.php|latex\.codecogs|mathtex\.cgi|mimetex|/math/render/|"
    r"chart\.googleapis\.com/chart\?cht=tx",
)
_IN_ADDRESS = re.compile(
    r"latex\.php\?(?:.*?&)?latex=([^&]+)|latex\.codecogs\.com/(?:\w+\.)?\w+\?(.+)|"
    r"chart\?cht=tx&chl=([^&]+)|(?:mathtex|mimetex)\.cgi\?(.+)",
    re.I,
)
_RAW = re.compile(
    r"\$\$(?P<block>[^$]{1,1000})\$\$|\\\[(?P<shown>[^$]{1,1000}?)\\\]|"
    r"\\\((?P<brackets>[^$\n]{1,300}?)\\\)|"
    r"(?<![\\$\w])\$(?P<line>[^\s$](?:[^$\n]{0,300}[^\s$\\])?)\$(?![\d$])"
)
_RAW_MOST = 500
_TEX_LIKE = re.compile(r"[\\^_={}<>+]|^[\W\d]*[^\W\d_]{0,2}[\W\d]*$")
_STATED = frozenset(_ATTRIBUTES)
_NAMES = words("math mjx-container span div script img annotation")


def inline(dom: Dom, node: int, name: str) -> str | None:
    """Return `$…$` or `$$…$$` for an element that is a formula, an empty text for its double,
    or None."""
    if name not in _NAMES and not name.startswith("mjx-"):
        return None
    if name == "script":
        return _script(dom, node)
    attrs = dom.having(node)
    if name == "img":
        return _image(attrs)
    if name in ("math", "mjx-container") or (attrs and _is_formula(attrs)):
        found = tex(dom, node)
        if found is None:
            return "" if _is_drawn(dom, node) else None
        if not found:
            return ""
        return f"\x02{found}\x02" if is_display(dom, node) else f"${found}$"
    return None


def _script(dom: Dom, node: int) -> str:
    """Return the formula that a script holds; the drawing of it before the script is left out."""
    if "math/tex" not in dom.get(node, "type"):
        return ""
    found = _clean("".join(dom.text[node : dom.end[node]]))
    return f"\x02{found}\x02" if "mode=display" in dom.get(node, "type") else f"${found}$"


def _is_drawn(dom: Dom, node: int) -> bool:
    """Whether an element draws the formula of the script that follows it."""
    after = dom.end[node]
    for _ in range(3):
        if after >= len(dom) or dom.parent[after] != dom.parent[node]:
            return False
        if dom.tag[after] == "script":
            return "math/tex" in dom.get(after, "type")
        after = dom.end[after]
    return False


def _is_formula(attrs: Mapping[str, str | None]) -> bool:
    label = attrs.get("class")
    return bool(label and _RENDERED.search(label)) or not _STATED.isdisjoint(attrs)


def tex(dom: Dom, node: int) -> str | None:
    """Return the TeX of a formula, or None where the element is none."""
    attrs = dom.having(node)
    for key in _ATTRIBUTES:
        if attrs.get(key):
            return _clean(attrs[key] or "")
    end = dom.end[node]
    for child in range(node, end):
        name = dom.tag[child]
        if name == "annotation" and "tex" in dom.get(child, "encoding").lower():
            return _clean("".join(dom.text[child : dom.end[child]]))
        if name == "script" and "math/tex" in dom.get(child, "type"):
            return _clean("".join(dom.text[child : dom.end[child]]))
        if name == "math" and dom.get(child, "alttext"):
            return _clean(dom.get(child, "alttext"))
        if name == "img" and "math" in dom.get(child, "class") and dom.get(child, "alt"):
            return _clean(dom.get(child, "alt"))
    for child in range(node, end):
        if dom.tag[child] == "math":
            return mathml.tex(dom, child)
    return None


def is_display(dom: Dom, node: int) -> bool:
    """Whether a formula stands on its own line."""
    for child in range(node, min(dom.end[node], node + 12)):
        attrs = dom.having(child)
        if not attrs:
            continue
        label = attrs.get("class") or ""
        if (
            attrs.get("display") in ("block", "true")
            or "katex-display" in label
            or "math-display" in label
            or "math-block" in label
        ):
            return True
        if "mode=display" in (attrs.get("type") or ""):
            return True
    up = dom.parent[node]
    return up >= 0 and (
        "katex-display" in dom.get(up, "class") or "MathJax_Display" in dom.get(up, "class")
    )


def raw(text: str) -> list[tuple[str, str]] | None:
    """Return a text cut into plain parts and the formulas written in it with TeX's delimiters,
    as pairs of both; None for a text without any.

    A formula is given as it is to be written; dollars around what is no formula stay text.
    """
    parts: list[tuple[str, str]] = []
    last = 0
    for count, match in enumerate(_RAW.finditer(text)):
        if count >= _RAW_MOST:
            break
        block = match["block"] or match["shown"]
        inner = (block or match["brackets"] or match["line"]).strip()
        if not inner or not _TEX_LIKE.search(inner):
            continue
        inner = " ".join(inner.split())
        parts.append((text[last : match.start()], f"\x02{inner}\x02" if block else f"${inner}$"))
        last = match.end()
    if not parts:
        return None
    return [*parts, (text[last:], "")]


def _image(attrs: Mapping[str, str | None]) -> str | None:
    """Return the formula that an image draws, or None for any other image."""
    alt = (attrs.get("alt") or "").strip()
    if not alt and (found := _IN_ADDRESS.search((attrs.get("src") or "")[:2000])):
        source = next(group for group in found.groups() if group)
        return f"${_clean(unquote_plus(source))}$"
    if alt and (
        _DRAWN_CLASS.search(attrs.get("class") or "")
        or _DRAWN_BY.search((attrs.get("src") or "").lower())
    ):
        return f"${_clean(alt)}$"
    return None


def _clean(source: str) -> str:
    source = source.strip()
    if source.startswith("{\\displaystyle") and source.endswith("}"):
        source = source[len("{\\displaystyle") : -1].strip()
    for left, right in (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$")):
        if len(source) > len(left + right) and source.startswith(left) and source.endswith(right):
            source = source[len(left) : -len(right)].strip()
    return (
        source.removeprefix("\\displaystyle").strip()
        if source.startswith("\\displaystyle ")
        else source
    )
