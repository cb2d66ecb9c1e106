"""Reading speed beside other readers, reader by reader in each round.

    python benchmarks/reading.py [--rounds 5] [--pages 24] [--json FILE]

Reads the pages with known answers beside the checkout (../shared/pages); without them there is
nothing to measure, and it says so. Speed is CPU time of this process; `read.py` has more figures.
"""

from __future__ import annotations

import statistics
import sys

from measuring import Figures, Ratio, Report, emit, parser, progress, spread, table
from read import SETS, SHARED, load, quality, readers, scorer, timed

#: read() shall read this many pages in the time that trafilatura takes for one.
TARGET = 8.0
OURS, RIVAL = "ours", "trafilatura"


def speed(rounds: list[dict[str, Figures]], reader: str) -> list[float]:
    """Pages a CPU second over all sets, for each round."""
    return [1 / statistics.fmean(1 / one[name][reader] for name in one) for one in rounds]


def ratio(rounds: list[dict[str, Figures]], other: str, target: float | None) -> Ratio:
    ours, theirs = speed(rounds, OURS), speed(rounds, other)
    return Ratio(
        name=f"{OURS} : {other}, pages a CPU second",
        values=[one / two for one, two in zip(ours, theirs, strict=True)],
        target=target,
        at_least=True,
    )


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--pages", type=int, default=24, help="about how many of each set")
    given = options.parse_args()
    if not SHARED.exists():
        sys.exit("the pages with known answers (../shared) are not beside this checkout")
    score, chosen = scorer(), readers("")
    sets = {name: load(name, given.pages) for name in SETS}
    rounds: list[dict[str, Figures]] = []
    texts: dict[str, dict[str, list[str]]] = {}
    for _ in progress(given.rounds):
        one: dict[str, Figures] = {}
        for name, pages in sets.items():
            texts[name], one[name] = timed(chosen, pages)
        rounds.append(one)
    others = [name for name in chosen if name != OURS]
    found = {
        name: {who: quality(score, sets[name], texts[name][who]) for who in chosen} for name in sets
    }
    rows = [
        (
            name,
            len(sets[name]),
            who,
            spread([one[name][who] for one in rounds]),
            *(f"{found[name][who][key]:.3f}" for key in ("F1", "P", "R")),
        )
        for name in sets
        for who in chosen
    ]
    head = ("set", "pages", "reader", "pages a CPU second", "F1", "precision", "recall")
    emit(
        Report(
            title="Reading pages",
            ratios=[ratio(rounds, name, TARGET if name == RIVAL else None) for name in others],
            tables=[table(head, rows)],
            rounds=given.rounds,
        ),
        given.json,
    )


if __name__ == "__main__":
    main()
