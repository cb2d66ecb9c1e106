"""Tables as GFM: spans filled into a grid, layout tables told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.reading.dom import Dom

__all__ = ["cells", "grid", "is_layout", "rows", "write"]

_SPAN_MOST = 100
_GRID_MOST = 200_000
_RICH = words("h1 h2 h3 h4 h5 h6 ul ol pre blockquote article section form input img")
_BLOCKS = words("p div h1 h2 h3 h4 ul ol pre blockquote article")
_CELL_MOST, _VALUE_MOST = 60, 30


def rows(dom: Dom, node: int) -> list[int]:
    """Return the rows of a table, those of nested tables left out."""
    found = []
    for child in dom.children(node):
        name = dom.tag[child]
        if name == "tr":
            found.append(child)
        elif name in ("thead", "tbody", "tfoot"):
            found.extend(row for row in dom.children(child) if dom.tag[row] == "tr")
    return found


def cells(dom: Dom, row: int) -> list[int]:
    """Return the cells of a row."""
    return [cell for cell in dom.children(row) if dom.tag[cell] in ("td", "th")]


def is_layout(dom: Dom, node: int) -> bool:
    """Whether a table only arranges a page: one column or row, nested tables or blocks in cells."""
    if dom.get(node, "role") in ("presentation", "none"):
        return True
    end, tag = dom.end[node], dom.tag
    inner = tag[node + 1 : end]
    if "table" in inner:
        return True
    widths = [len(cells(dom, row)) for row in rows(dom, node)]
    if not widths or max(widths) < 2:
        return not ("th" in inner and len(widths) > 1)
    if "th" in inner or "caption" in inner:
        return False
    if len(widths) == 1:
        is_plain = "math" not in inner and _RICH.isdisjoint(inner) and _BLOCKS.isdisjoint(inner)
        return not is_plain or widths[0] < 3 or _inked(dom, node) / widths[0] > _VALUE_MOST
    if len(widths) > 2 and len(set(widths)) == 1 and _RICH.isdisjoint(inner):
        return _inked(dom, node) / sum(widths) > _CELL_MOST
    blocks = sum(map(inner.count, _BLOCKS))
    count = sum(widths)
    return blocks > count or _inked(dom, node) / count > 250


def _inked(dom: Dom, node: int) -> int:
    return sum(len(part.strip()) for part in dom.text[node + 1 : dom.end[node]])


def _span(dom: Dom, cell: int, name: str) -> int:
    value = dom.get(cell, name)
    if value and value.isascii() and value.isdigit() and len(value) < 6:
        return max(1, min(int(value), _SPAN_MOST))
    return 1


def grid(dom: Dom, node: int, drop: bytearray) -> list[list[int]]:
    """Return the table as rows of cells, a spanning cell repeated in every place that it covers."""
    table: list[list[int]] = []
    pending: dict[int, tuple[int, int]] = {}
    size = 0
    for row in rows(dom, node):
        if drop[row]:
            continue
        line: list[int] = []
        column = 0
        waiting = [cell for cell in cells(dom, row) if not drop[cell]]
        place = 0
        while place < len(waiting) or column in pending:
            if column in pending:
                cell, left = pending[column]
                line.append(cell)
                if left > 1:
                    pending[column] = (cell, left - 1)
                else:
                    del pending[column]
                column += 1
                continue
            cell = waiting[place]
            place += 1
            height = _span(dom, cell, "rowspan")
            for _ in range(_span(dom, cell, "colspan")):
                line.append(cell)
                if height > 1:
                    pending[column] = (cell, height - 1)
                column += 1
        size += len(line)
        if size > _GRID_MOST:
            break
        if line:
            table.append(line)
    return table


def write(dom: Dom, table: list[list[int]], cell_text: Callable[[int], str]) -> list[str]:
    """Return the lines of a GFM table, its first row as the head."""
    known: dict[int, str] = {}
    lines = []
    written = []
    for line in table:
        shown = []
        for cell in line:
            if cell not in known:
                known[cell] = cell_text(cell)
            shown.append(known[cell])
        written.append(shown)
    kept = [line for line in written if any(line)]
    if not kept:
        return []
    width = min(max(len(line) for line in kept), _SPAN_MOST * 2)
    used = [c for c in range(width) if any(c < len(line) and line[c] for line in kept)]
    for place, row in enumerate(kept):
        lines.append("| " + " | ".join(row[c] if c < len(row) else "" for c in used) + " |")
        if place == 0:
            lines.append("| " + " | ".join("---" for _ in used) + " |")
    return lines
