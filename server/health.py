"""How every engine does: its file, its recordings, its rests, its keys, its answers over time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from framework.spec.check import EngineCheck, check_compiled
from framework.types import Kind, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.spec.catalogue import Entry
    from server.app import Application

__all__ = ["Health", "Live", "Slot", "State", "by_need", "examine", "health_metrics", "timeline"]

State = str
#: States in the order of how much they need a reader's eye, the least first.
STATES: tuple[State, ...] = ("disabled", "fine", "resting", "trouble", "broken")

#: Hours of one slot of the timeline, and how many slots a week has.
SLOT_HOURS = 6
SLOTS = 7 * 24 // SLOT_HOURS

_GOOD = frozenset({Verdict.OK, Verdict.EMPTY})
#: What says nothing about an engine: it was not asked.
_NOT_ASKED = frozenset({Verdict.RESTING, Verdict.DISABLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Six hours of an engine's answers: how many were good, unreadable, refused, failed."""

    good: int = 0
    changed: int = 0
    refused: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All answers."""
        return self.good + self.changed + self.refused + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What one question to the real engine came to."""

    verdict: Verdict
    rows: int = 0
    drift: float = 0.0
    elapsed_ms: int = 0
    detail: str = ""

    @property
    def ok(self) -> bool:
        """It answered, and every field that must be there was."""
        return self.verdict in _GOOD and self.drift == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """One engine's health; times are RFC 3339, `drift` is the largest over its good recordings."""

    id: str
    name: str
    kind: Kind = Kind.WEB
    status: Status = Status.EXPERIMENTAL
    problems: tuple[str, ...] = ()
    warnings: int = 0
    cases: int = 0
    drift: float = 0.0
    disabled: str = ""
    resting: str = ""
    resting_until: str | None = None
    keys: int = 0
    keys_resting: int = 0
    history: tuple[tuple[Verdict, int], ...] = ()
    slots: tuple[Slot, ...] = ()
    live: Live | None = None

    @property
    def state(self) -> State:
        """One of STATES: broken files and recordings first, then what a live question showed."""
        if self.problems:
            return "broken"
        if self.live is not None and not self.live.ok:
            return "trouble"
        if self.resting:
            return "resting"
        if self.disabled:
            return "disabled"
        return "trouble" if self.live is None and self._fails() else "fine"

    @property
    def answers(self) -> int:
        """How many answers the history knows."""
        return sum(count for verdict, count in self.history if verdict not in _NOT_ASKED)

    @property
    def good(self) -> int:
        """How many of them were good."""
        return sum(count for verdict, count in self.history if verdict in _GOOD)

    def _fails(self) -> bool:
        """Most answers of the last week were no good, of at least three."""
        return self.answers >= 3 and self.good * 2 < self.answers


def examine(app: Application, ids: Sequence[str] = (), *, offline: bool = True) -> list[Health]:
    """Return the health of engines (all for no ids), worst first, then by id; nothing is sent.

    With `offline` False files and recordings are taken as they are. Raises NotFoundError for an
    unknown id.
    """
    catalogue = app.catalogue
    entries = [catalogue.entry(name) for name in ids] if ids else list(catalogue.entries())
    slots = timeline(app.policy.cooldown.hourly(), datetime.now(UTC).timestamp())
    found = []
    for entry in entries:
        checked = _checked(app, entry) if offline else None
        found.append(_health(app, entry, checked, slots.get(entry.id, ())))
    return by_need(found)


def by_need(found: Sequence[Health]) -> list[Health]:
    """Return engines in the order of how much they need an eye, those with answers first."""
    return sorted(found, key=lambda one: (-STATES.index(one.state), not one.answers, one.id))


def _checked(app: Application, entry: Entry) -> EngineCheck:
    if entry.engine is None:
        return EngineCheck(id=entry.id, problems=entry.problems)
    home = entry.path.resolve().parent.parent / "fixtures"
    return check_compiled(entry.engine, entry.path, home, entry.problems)


def _health(
    app: Application, entry: Entry, checked: EngineCheck | None, slots: tuple[Slot, ...]
) -> Health:
    engine = entry.engine
    told = checked.problems if checked is not None else entry.problems
    errors = tuple(str(problem) for problem in told if problem.severity == "error")
    if engine is None:
        return Health(id=entry.id, name=entry.id, problems=errors or ("not usable",))
    rest = app.policy.cooldown.resting(entry.id)
    pools = [report for pool in app.policy.pools(engine).values() for report in pool.reports()]
    cases = checked.cases if checked is not None else ()
    return Health(
        id=entry.id,
        name=engine.name,
        kind=engine.kind,
        status=engine.spec.status,
        problems=errors,
        warnings=len(told) - len(errors),
        cases=len(cases),
        drift=max((c.drift for c in cases if c.verdict is Verdict.OK), default=0.0),
        disabled=entry.disabled(app.environment.values),
        resting=rest.verdict.value if rest else "",
        resting_until=_moment(rest.until) if rest else None,
        keys=len(pools),
        keys_resting=sum(report.verdict is not None for report in pools),
        history=tuple(sorted(app.policy.cooldown.history(entry.id).items())),
        slots=slots,
    )


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def health_metrics(app: Application) -> str:
    """Return the last week's verdicts and the rests of all engines in the form Prometheus reads.

    They come from the state database, so they outlive the process and hold for all of them.
    """
    registry = CollectorRegistry()
    week = Gauge(
        "consilience_engine_week_answers",
        "Answers of search engines in the last seven days, by verdict.",
        ("engine", "verdict"),
        registry=registry,
    )
    rest = Gauge(
        "consilience_engine_rest_seconds",
        "How long a resting engine will not be asked.",
        ("engine", "verdict"),
        registry=registry,
    )
    counts: Counter[tuple[str, Verdict]] = Counter()
    for engine, _, verdict, count in app.policy.cooldown.hourly():
        counts[engine, verdict] += count
    for (engine, verdict), count in sorted(counts.items()):
        week.labels(engine, verdict.value).set(count)
    now = datetime.now(UTC).timestamp()
    for one in app.policy.cooldown.all():
        rest.labels(one.subject, one.verdict.value).set(round(one.remaining(now)))
    return generate_latest(registry).decode()


def timeline(
    hours: Sequence[tuple[str, float, Verdict, int]], now: float
) -> Mapping[str, tuple[Slot, ...]]:
    """Return each engine's last week in slots of six hours, the oldest first."""
    width = SLOT_HOURS * 3600.0
    counts: dict[str, list[dict[str, int]]] = {}
    for engine, at, verdict, count in hours:
        place = SLOTS - 1 - int((now - at) / width)
        if verdict in _NOT_ASKED or not 0 <= place < SLOTS:
            continue
        slots = counts.setdefault(engine, [{} for _ in range(SLOTS)])
        name = _sort(verdict)
        slots[place][name] = slots[place].get(name, 0) + count
    return {engine: tuple(Slot(**slot) for slot in slots) for engine, slots in counts.items()}


#: Which part of a slot a verdict counts for; every other one is a failure.
_SORTS: Mapping[Verdict, str] = {
    Verdict.OK: "good",
    Verdict.EMPTY: "good",
    Verdict.CHANGED: "changed",
    Verdict.CAPTCHA: "refused",
    Verdict.CONSENT: "refused",
    Verdict.BLOCKED: "refused",
    Verdict.RATE_LIMITED: "refused",
    Verdict.QUOTA: "refused",
    Verdict.UNAUTHORISED: "refused",
    Verdict.UNRELATED: "refused",
}


def _sort(verdict: Verdict) -> str:
    return _SORTS.get(verdict, "failed")
