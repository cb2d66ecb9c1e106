"""When a run stops collecting: pure rules, in the order in which they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.research.state import Step, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from framework.research.state import RoundStats, State

__all__ = ["FINISHED", "REASONS", "reserve", "rounds_stop", "time_is_up"]

#: Stops after which the answer is whole: nothing was cut off.
FINISHED = frozenset(Stop) - {Stop.TIME, Stop.LLM_FAILED, Stop.CANCELLED}

REASONS: Mapping[Stop, str] = {
    Stop.COMPLETE: "no question is left open",
    Stop.SATURATED: "two rounds in a row brought little that was new",
    Stop.LOOPS: "the limit of rounds (max_loops) is reached",
    Stop.URLS: "the limit of pages (max_citation_urls) is reached",
    Stop.NOTHING_FOUND: "two rounds in a row found no page that could be read",
    Stop.EXCHANGES: "the client's model can be asked only a few times in one call",
    Stop.TIME: "the time budget is used up",
    Stop.LLM_FAILED: "the language model failed three times in a row",
    Stop.CANCELLED: "it was cancelled",
}

_FAILURES = 3
_ROUND_EXCHANGES = 2
#: One for the answer, one for its repair.
_ANSWER_EXCHANGES = 2
_LONGEST_RESERVE = 45.0


def rounds_stop(state: State) -> Stop | None:
    """Return why no further round follows the one just judged, or None."""
    return next((stop for stop, rule in _RULES if rule(state)), None)


def _complete(state: State) -> bool:
    return state.judged and not state.gaps and bool(state.cited)


def _llm_failed(state: State) -> bool:
    return state.failures >= _FAILURES


def _saturated(state: State) -> bool:
    return _twice(state, lambda one: one.pages > 0 and _known_share(one) >= state.task.saturation)


def _nothing_found(state: State) -> bool:
    return _twice(state, lambda one: one.pages == 0)


def _twice(state: State, rule: Callable[[RoundStats], bool]) -> bool:
    last = state.rounds[-2:]
    return len(last) == 2 and all(rule(one) for one in last)


def _known_share(one: RoundStats) -> float:
    return one.known / one.facts if one.facts else 1.0


def _urls(state: State) -> bool:
    limit = state.task.max_citation_urls
    return 0 <= limit <= len(state.sources)


def _loops(state: State) -> bool:
    return state.round >= state.task.max_loops


def _exchanges(state: State) -> bool:
    limit = state.task.max_exchanges
    needed = _ROUND_EXCHANGES + _ANSWER_EXCHANGES
    return limit is not None and limit - state.exchanges < needed


_RULES: tuple[tuple[Stop, Callable[[State], bool]], ...] = (
    (Stop.LLM_FAILED, _llm_failed),
    (Stop.COMPLETE, _complete),
    (Stop.URLS, _urls),
    (Stop.LOOPS, _loops),
    (Stop.SATURATED, _saturated),
    (Stop.NOTHING_FOUND, _nothing_found),
    (Stop.EXCHANGES, _exchanges),
)


def reserve(state: State) -> float:
    """Return the seconds that are kept for writing the answer: a quarter of all, 45 at most."""
    return min(_LONGEST_RESERVE, state.task.time_budget / 4)


def time_is_up(state: State, spent: float) -> bool:
    """Say whether collecting must end now for the answer to be in time."""
    return state.step not in _WRITING and spent >= state.task.time_budget - reserve(state)


_WRITING = frozenset({Step.ANSWER, Step.CHECK, Step.DONE})
