"""The status page: one HTML file that needs nothing else, no scripts, readable on a phone."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from server.health import SLOT_HOURS, SLOTS, STATES
from server.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from server.health import Health, Slot

__all__ = ["POLICY", "render_status"]

_WIDTH, _HEIGHT, _GAP = 8, 28, 2
#: Parts of a slot from the bottom up, with the words for them.
_PARTS = (
    ("good", "answered"),
    ("changed", "could not be read"),
    ("refused", "refused"),
    ("failed", "failed"),
)

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2126; --page: #fbfbfa; --card: #fff; --line: #dfe3e7;
  --soft: #59636e; --link: #0b57a4; --fine: #17693a; --fine-bg: #e2f5e8; --wait: #835300;
  --wait-bg: #fdf1d8; --trouble: #a5231c; --trouble-bg: #fdeae8; --plain-bg: #eceff2;
  --good: #2da44e; --changed: #bf8700; --refused: #cf222e; --failed: #8250df; --none: #e4e8ec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --page: #14181c; --card: #1b2026;
  --line: #2f3740; --soft: #9aa5b1; --link: #80bdf5; --fine: #7ad69a; --fine-bg: #143222;
  --wait: #e5b95e; --wait-bg: #362a10; --trouble: #ff9d94; --trouble-bg: #3d1a17;
  --plain-bg: #2a3138; --good: #3fb950; --changed: #d29922; --refused: #f85149; --failed: #a371f7;
  --none: #2a3138; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; color: var(--ink); background: var(--page);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; }
a { color: var(--link); text-underline-offset: .15em; }
h1 { font-size: 1.5rem; letter-spacing: -.01em; margin: 0 0 .5rem; }
p { margin: .25rem 0 1rem; color: var(--soft); font-size: .9rem; }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
li { border: 1px solid var(--line); background: var(--card); border-radius: .6rem;
  padding: .6rem .8rem; min-width: 0; }
h2 { font-size: 1rem; margin: 0; display: flex; justify-content: space-between; gap: .5rem;
  align-items: start; }
.state { border-radius: 1rem; padding: .05rem .6rem; font-size: .8rem; font-weight: 600;
  white-space: nowrap; }
.fine { background: var(--fine-bg); color: var(--fine); }
.trouble, .resting { background: var(--wait-bg); color: var(--wait); }
.broken { background: var(--trouble-bg); color: var(--trouble); }
.disabled { background: var(--plain-bg); color: var(--soft); }
.about, .why { font-size: .85rem; color: var(--soft); }
svg { display: block; width: 100%; height: 2rem; margin: .4rem 0 .2rem; }
.good { fill: var(--good); background: var(--good); } .none { fill: var(--none); }
.changed { fill: var(--changed); background: var(--changed); }
.refused { fill: var(--refused); background: var(--refused); }
.failed { fill: var(--failed); background: var(--failed); }
.counts, .key { display: flex; flex-wrap: wrap; gap: .3rem .9rem; align-items: center; }
.key i { display: inline-block; width: .75rem; height: .75rem; margin-right: .35rem;
  border-radius: 2px; }
"""
_DIGEST = b64encode(sha256(_STYLE.encode()).digest()).decode()
#: What the page may load where it is served: nothing but its own style.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def render_status(engines: Sequence[Health], now: datetime, *, home: str = "") -> str:
    """Return the page; engines stand in the order given. Every text in it is escaped.

    `home` is the address of the search page, where the page is served beside one.
    """
    counts = Counter(one.state for one in engines)
    summary = " ".join(
        f'<span class="state {state}">{counts[state]} {state}</span>'
        for state in reversed(STATES)
        if counts[state]
    )
    made = now.strftime("%Y-%m-%d %H:%M UTC")
    items = "\n".join(_item(one) for one in engines)
    back = f'<p><a href="{escape(home)}">← Search</a></p>\n' if home else ""
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
{back}<h1>{len(engines)} engines</h1>
<p class="counts">{summary}</p>
<p>As of {made}, version {escape(VERSION)}. Each bar is {SLOT_HOURS} hours of the last week.</p>
<p class="key">{_key()}</p>
<main><ul>
{items}
</ul></main>
</body>
</html>
"""


def _key() -> str:
    return "".join(f'<span><i class="{part}"></i>{words}</span>' for part, words in _PARTS)


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
    return f'<rect {place} class="{part}"/>'
