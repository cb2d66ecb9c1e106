"""The status page: one HTML file that needs nothing else, no scripts, readable on a phone."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from server.health import SLOT_HOURS, SLOTS, STATES
from server.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from server.health import Health, Slot

__all__ = ["render_status"]

_WIDTH, _HEIGHT, _GAP = 8, 28, 2
#: Parts of a slot from the bottom up, with the words for them.
_PARTS = (
    ("good", "answered"),
    ("changed", "could not be read"),
    ("refused", "refused"),
    ("failed", "failed"),
)

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --page: #fff; --line: #d8dee4; --soft: #57606a;
  --good: #2da44e; --changed: #bf8700; --refused: #cf222e; --failed: #8250df; --none: #eaeef2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --page: #0d1117; --line: #30363d;
  --soft: #9198a1; --good: #3fb950; --changed: #d29922; --refused: #f85149; --failed: #a371f7;
  --none: #21262d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; font: 16px/1.45 system-ui, sans-serif;
  color: var(--ink); background: var(--page); }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; }
p { margin: .25rem 0 1rem; color: var(--soft); }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
li { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .75rem; min-width: 0; }
h2 { font-size: 1rem; margin: 0; display: flex; justify-content: space-between; gap: .5rem;
  overflow-wrap: anywhere; }
.state { font-weight: 600; white-space: nowrap; }
.fine { color: var(--good); } .trouble, .resting { color: var(--changed); }
.broken { color: var(--refused); } .disabled { color: var(--soft); }
.about, .why { font-size: .85rem; color: var(--soft); overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: 2rem; margin: .4rem 0; }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .85rem; }
.key i { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px;
  margin-right: .35rem; }
"""


def render_status(engines: Sequence[Health], now: datetime) -> str:
    """Return the page; engines stand in the order given. Every text in it is escaped."""
    counts = Counter(one.state for one in engines)
    summary = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    made = now.strftime("%Y-%m-%d %H:%M UTC")
    items = "\n".join(_item(one) for one in engines)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Consilience: status of {len(engines)} engines</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{len(engines)} engines: {escape(summary) or "none"}</h1>
<p>As of {made}, version {escape(VERSION)}. Each bar is {SLOT_HOURS} hours of the last week.</p>
<p class="key">{_key()}</p>
<main><ul>
{items}
</ul></main>
</body>
</html>
"""


def _key() -> str:
    return "".join(
        f'<span><i style="background: var(--{part})"></i>{words}</span>' for part, words in _PARTS
    )


def _item(one: Health) -> str:
    about = [one.kind.value, one.status.value]
    if one.answers:
        about.append(f"{one.good} of {one.answers} answers good")
    if one.cases:
        about.append(f"{one.cases} recordings")
    if one.keys:
        resting = f", {one.keys_resting} resting" if one.keys_resting else ""
        about.append(f"{one.keys} keys{resting}")
    why = "".join(f'<div class="why">{escape(text)}</div>' for text in _reasons(one))
    return (
        f'<li id="{escape(one.id)}"><h2><span>{escape(one.name)}</span>'
        f'<span class="state {one.state}">{one.state}</span></h2>'
        f'<div class="about">{escape(" · ".join(about))}</div>{_bars(one)}{why}</li>'
    )


def _reasons(one: Health) -> Iterator[str]:
    yield from one.problems[:3]
    if one.resting:
        yield f"rests after {one.resting} until {one.resting_until}"
    if one.disabled:
        yield one.disabled
    if one.drift:
        yield f"drift {one.drift:.0%} in its recordings"
    if one.live is not None:
        rows = f"{one.live.rows} rows" if one.live.rows else one.live.detail
        yield f"asked just now: {one.live.verdict.value} {rows}, {one.live.elapsed_ms} ms"


def _bars(one: Health) -> str:
    """Return a week of bars as a drawing with its words, nothing where nothing was asked."""
    if not any(slot.total for slot in one.slots):
        return ""
    most = max(slot.total for slot in one.slots)
    wide = SLOTS * _WIDTH
    bars = "".join(_bar(slot, index, most) for index, slot in enumerate(one.slots))
    label = ", ".join(
        f"{sum(getattr(slot, part) for slot in one.slots)} {words}" for part, words in _PARTS
    )
    return (
        f'<svg viewBox="0 0 {wide} {_HEIGHT}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}"><title>{escape(label)}</title>{bars}</svg>'
    )


def _bar(slot: Slot, index: int, most: int) -> str:
    left, width = index * _WIDTH, _WIDTH - _GAP
    if not slot.total:
        return _rect(left, _HEIGHT - 2, width, 2, "none")
    drawn, bottom = "", float(_HEIGHT)
    for part, _ in _PARTS:
        high = getattr(slot, part) / most * _HEIGHT
        if high:
            bottom -= high
            drawn += _rect(left, bottom, width, high, part)
    return drawn


def _rect(left: float, top: float, width: float, height: float, part: str) -> str:
    place = f'x="{left:g}" y="{top:.2f}" width="{width:g}" height="{height:.2f}"'
    return f'<rect {place} style="fill: var(--{part})"/>'
