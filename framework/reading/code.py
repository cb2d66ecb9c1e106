"""Code blocks: their text without line numbers, their language, and fences that hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.wordlist import words

if TYPE_CHECKING:
    from framework.reading.dom import Dom

__all__ = ["fence", "is_block", "is_code_table", "known", "language", "source"]

_LANGUAGE = re.compile(
    r"(?:language|lang|highlight-source|highlight-text|highlight|brush|sh|src|source|code|snippet|syntax|hljs)"
    r"[-_:]([A-Za-z][\w+#.-]*)"
)
_BRUSH = re.compile(r"\bbrush:\s*([A-Za-z][\w+#.-]*)")
_BARE = re.compile(
    r"(?:^|\s)(?:highlight|hljs|sourceCode|codehilite|prettyprint|syntaxhighlighter)\s+([a-z][a-z0-9+#-]{0,15})(?:\s|$)"
)
_NO_LANGUAGE = words(
    """
    none default text plain plaintext txt nohighlight source code block inline wrapper
    container pre box group toolbar tabs notranslate highlight highlighter-rouge literal-block
    numbers example snippet copy title header line lines hidden is-loaded no-highlight content
    sample listing markup-container area linenums ln nums
    """
)
_ALIASES = {
    "c++": "cpp",
    "js": "javascript",
    "py": "python",
    "py3": "python",
    "python3": "python",
    "ts": "typescript",
    "rb": "ruby",
    "sh": "sh",
    "shell-session": "shell",
    "ipython3": "python",
    "ipython": "python",
    "c#": "csharp",
    "golang": "go",
    "yml": "yaml",
}
_LANGUAGES = words(
    """
    javascript typescript jsx tsx python java c cpp csharp go rust ruby php html css scss less json
    yaml toml xml bash sh shell zsh fish powershell sql swift kotlin scala r perl lua dart elixir
    erlang haskell clojure graphql dockerfile makefile markdown diff ini nginx julia matlab groovy
    vue svelte solidity terraform hcl protobuf latex
    """
)
_CODES = words("code pre")
_INSIDE_MOST = 60
_LINE = re.compile(r"(?:^|\s)(?:line|token-line|code-line|view-line)(?:\s|$)")
_GUTTER = re.compile(
    r"(?:^|[\s_-])(?:linenos?|line-?numbers?(?:-rows)?|linenodiv|lnt?|gutter|ln-num(?:ber)?|"
    r"blob-num|hljs-ln-numbers?|rouge-gutter|react-code-line-number|lineno|code-line-number|"
    r"line-num|line_number|crayon-nums?|linenumber)(?:[\s_-]|$)",
    re.I,
)
_TOOLS = re.compile(
    r"(?:^|[\s_-])(?:copy|toolbar|clipboard|code-header|codeblock-header|copybtn|tooltip|"
    r"hover-info|hovercard)(?:[\s_-]|$)",
    re.I,
)
_NUMBERS = re.compile(r"[\s\d]+")
_BREAKING = words("div li p tr section figure ol ul table tbody pre")
_SKIPPED = words("button script noscript input")


def source(dom: Dom, node: int) -> str:
    """Return the text of a code element, one line a line, gutters and tools left out."""
    parts: list[str] = []
    _gather(dom, node, parts, _line_numbers(dom, node))
    text = "".join(parts).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return "\n".join(lines)


def _line_numbers(dom: Dom, node: int) -> frozenset[int]:
    """Return the elements that number the lines of code one after the other, whatever their
    names."""
    found: list[int] = []
    following, is_start, has_code = -1, True, False
    at, stop = node + 1, dom.end[node]
    while at < stop:
        name, text = dom.tag[at], dom.text[at]
        number = _number(dom, at) if name and is_start else -1
        if number >= 0:
            if found and number != following:
                return frozenset()
            found.append(at)
            following, is_start = number + 1, False
            at = dom.end[at]
            continue
        if name:
            is_start = is_start or name in _BREAKING or name == "br"
        else:
            lines = text.split("\n")
            if any(map(str.strip, lines if is_start else lines[1:])):
                return frozenset()
            has_code = has_code or bool(lines[0].strip())
            is_start = len(lines) > 1 or (is_start and not lines[0].strip())
        at += 1
    return frozenset(found) if len(found) > 1 and has_code else frozenset()


def _number(dom: Dom, node: int) -> int:
    """Return the number that is all an element holds, or -1."""
    text = dom.text[node + 1].strip() if dom.end[node] == node + 2 else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1


def _gather(dom: Dom, node: int, parts: list[str], numbers: frozenset[int]) -> None:
    end, tag, text = dom.end, dom.tag, dom.text
    child, stop = node + 1, end[node]
    after_line = False
    while child < stop:
        name = tag[child]
        is_line = name == "span" and bool(_LINE.search(dom.get(child, "class")))
        if is_line and after_line and not _ends_line(parts):
            parts.append("\n")
        after_line = is_line
        if not name:
            parts.append(text[child])
        elif name == "br":
            parts.append("\n")
        elif name not in _SKIPPED and child not in numbers and not is_gutter(dom, child):
            breaking = name in _BREAKING or (
                name in ("span", "code")
                and "display:block" in dom.get(child, "style").replace(" ", "")
            )
            if breaking and parts and not _ends_line(parts):
                parts.append("\n")
            before = len(parts)
            _gather(dom, child, parts, numbers)
            if breaking and (len(parts) == before or not _ends_line(parts)):
                parts.append("\n")
        child = end[child]


def _ends_line(parts: list[str]) -> bool:
    for part in reversed(parts):
        if part:
            return part[-1] == "\n"
    return True


def is_gutter(dom: Dom, node: int) -> bool:
    """Whether an element inside code holds line numbers or buttons."""
    attrs = dom.having(node)
    label = attrs.get("class") or ""
    if label and _TOOLS.search(label):
        return True
    if (label and _GUTTER.search(label)) or (dom.tag[node] == "td" and "data-line-number" in attrs):
        content = "".join(dom.text[node : dom.end[node]])
        return not content.strip() or bool(_NUMBERS.fullmatch(content))
    return attrs.get("aria-hidden") == "true" and bool(
        _NUMBERS.fullmatch("".join(dom.text[node : dom.end[node]]))
    )


def is_block(dom: Dom, node: int) -> bool:
    """Whether a `code` element outside `pre` is a block: several lines, and white space kept or
    named so."""
    attrs = dom.having(node)
    named = "block" in (attrs.get("class") or "").split() or "white-space:pre" in (
        attrs.get("style") or ""
    ).replace(" ", "")
    return named and (
        dom.parent[node] < 0
        or dom.tag[dom.parent[node]] != "p"
        or "\n" in "".join(dom.text[node : dom.end[node]]).strip()
    )


def language(dom: Dom, node: int) -> str:
    """Return the language named on a code element, its only child or its nearest ancestors."""
    inner = next(
        (c for c in range(node + 1, min(dom.end[node], node + 6)) if dom.tag[c] == "code"), -1
    )
    chain = [inner] if inner >= 0 else []
    up = node
    for _ in range(7):
        if up < 0 or dom.tag[up] in ("body", "article", "main"):
            break
        chain.append(up)
        up = dom.parent[up]
    for place, candidate in enumerate(chain):
        if (
            place > 1
            and dom.tag[candidate] in ("div", "figure", "td")
            and sum(1 for c in range(candidate, dom.end[candidate]) if dom.tag[c] == "pre") > 2
        ):
            break
        found = _named(dom, candidate)
        if found:
            return found
    inside = (
        c for c in range(node, min(dom.end[node], node + _INSIDE_MOST)) if dom.tag[c] in _CODES
    )
    return next(filter(None, (_named(dom, c) for c in inside)), "")


def known(label: str) -> str:
    """Return the language that a label over code names, or an empty text for any other words."""
    name = label.strip().lower().removesuffix(":").strip()
    name = _ALIASES.get(name, name)
    return name if name in _LANGUAGES else ""


def _named(dom: Dom, node: int) -> str:
    attrs = dom.having(node)
    for key in (
        "data-lang",
        "data-language",
        "data-code-language",
        "data-enlighter-language",
        "lang" if dom.tag[node] in ("pre", "code") else "data-lang",
        "language",
    ):
        value = (attrs.get(key) or "").strip().lower()
        if value and " " not in value and value not in _NO_LANGUAGE and len(value) < 24:
            return _ALIASES.get(value, value) if key != "lang" or len(value) > 2 else value
    label = f"{attrs.get('class') or ''} {attrs.get('data-syntaxhighlighter-params') or ''}"
    return _of_class(label) or (_bare(label) if dom.tag[node] in _CODES else "")


def _bare(label: str) -> str:
    """Return the language that is the whole of a class name: `<pre class="rust">`."""
    found = (_ALIASES.get(name, name) for name in label.lower().split())
    return next((name for name in found if name in _LANGUAGES and len(name) > 1), "")


def _of_class(label: str) -> str:
    """Return the language that class names state: `language-x`, `brush: x`, `highlight x`."""
    brush = _BRUSH.search(label)
    names = [brush[1]] if brush else []
    names += [match[1] for token in label.split() if (match := _LANGUAGE.fullmatch(token))]
    names += _BARE.findall(label)
    for name in names:
        name = name.lower().strip("-_")
        if name and name not in _NO_LANGUAGE:
            return _ALIASES.get(name, name)
    return ""


def is_code_table(dom: Dom, node: int) -> bool:
    """Whether a table only lays out code beside its line numbers: nearly a gutter for each cell of
    code."""
    inner = dom.tag[node : dom.end[node]]
    cells = inner.count("td") + inner.count("th")
    gutters = code = 0
    for child, name in enumerate(inner, node):
        if name == "td" or name == "th":
            if is_gutter(dom, child) or _has_gutter(dom, child):
                gutters += 1
            else:
                code += 1
                if code - 1 > cells - code:
                    return False
    return gutters > 0 and code > 0


def _has_gutter(dom: Dom, cell: int) -> bool:
    inner = next((c for c in range(cell + 1, dom.end[cell]) if dom.tag[c]), -1)
    if inner < 0:
        return False
    content = "".join(dom.text[cell : dom.end[cell]])
    return (
        bool(content.strip())
        and bool(_NUMBERS.fullmatch(content))
        and dom.tag[inner] in ("pre", "code", "div", "span")
    )


def fence(text: str, name: str) -> str:
    """Return a fenced block whose fence is longer than any in the text."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{name}\n{text}\n{ticks}"
