"""The run itself: step after step until it is done, bounded in time, stoppable at any moment."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from framework.research.state import State, Step, Stop
from framework.research.steps import STEPS, Tools
from framework.research.stop import reserve, time_is_up

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Progress", "Research"]

#: Seconds that a step gets to end once it is told to.
_GRACE = 0.8


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is: steps done so far, and a sentence."""

    done: int
    message: str
    state: State


class Research:
    """One run over its state; `save` gets every new state, `tell` hears of every step.

    `state` is always the last complete one, also while a step runs: a run that was cut off, or
    whose process died, goes on from a saved state without repeating what it holds.
    """

    def __init__(
        self,
        state: State,
        tools: Tools,
        *,
        save: Callable[[State], None] = lambda _state: None,
        tell: Callable[[Progress], None] = lambda _progress: None,
    ) -> None:
        self.state = state
        self._save = save
        self._tell = tell
        self._tools = replace(tools, keep=self._keep)
        self._done = 0
        self._started = tools.clock()
        self._before = state.spent

    @property
    def spent(self) -> float:
        """Seconds of work so far, earlier parts of the run counted in."""
        return self._before + self._tools.clock() - self._started

    async def run(self, cancel: asyncio.Event | None = None) -> State:
        """Work until done and return the last state.

        When `cancel` is set, or the time budget ends, the running step is cancelled and the run
        ends within a second with what it has (`stop` says why, `cut_at` where). What a step raises
        passes through, with `state` kept.
        """
        while self.state.step is not Step.DONE:
            self._mind_time()
            await self._step(cancel or asyncio.Event())
        return self.state

    def _mind_time(self) -> None:
        if time_is_up(self.state, self.spent):
            self._keep(
                replace(self.state, stop=Stop.TIME, cut_at=self.state.step, step=Step.ANSWER)
            )

    async def _step(self, cancel: asyncio.Event) -> None:
        step = self.state.step
        self._announce(step)
        work = asyncio.ensure_future(STEPS[step](self.state, self._tools))
        alarm = asyncio.ensure_future(cancel.wait())
        try:
            await asyncio.wait(
                {work, alarm}, timeout=self._limit(step), return_when=asyncio.FIRST_COMPLETED
            )
            if work.done() and not work.cancelled():
                self._keep(work.result())
            else:
                self._cut(step, Stop.CANCELLED if cancel.is_set() else Stop.TIME)
        except Exception:
            self._keep(self.state)
            raise
        finally:
            await _ended(work, alarm)

    def _limit(self, step: Step) -> float:
        writing = step in (Step.ANSWER, Step.CHECK)
        end = self.state.task.time_budget - (0.0 if writing else reserve(self.state))
        return max(0.0, end - self.spent)

    def _cut(self, step: Step, stop: Stop) -> None:
        """End a step that was not done: for want of time there is an answer, else there is none.

        A cancelled run is not saved as such, so that it can be continued.
        """
        writing = step in (Step.ANSWER, Step.CHECK)
        onward = Step.DONE if writing or stop is Stop.CANCELLED else Step.ANSWER
        state = replace(self.state, stop=stop, cut_at=step, step=onward, spent=self.spent)
        if stop is Stop.CANCELLED:
            self.state = state
        else:
            self._keep(state)

    def _keep(self, state: State) -> None:
        self.state = replace(state, spent=self.spent)
        self._save(self.state)

    def _announce(self, step: Step) -> None:
        self._done += 1
        self._tell(Progress(self._done, _MESSAGES[step](self.state), self.state))


async def _ended(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait a little for it; what it raises after that is dropped."""
    pending = [task for task in tasks if not task.done()]
    for task in pending:
        task.cancel()
    if pending:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(pending, timeout=_GRACE)
    for task in pending:
        if task.done() and not task.cancelled():
            task.exception()


_MESSAGES: dict[Step, Callable[[State], str]] = {
    Step.PLAN: lambda state: f"round {state.round}: choosing queries",
    Step.SEARCH: lambda state: f"round {state.round}: searching {len(state.planned)} queries",
    Step.SELECT: lambda state: f"round {state.round}: choosing among {len(state.pool)} results",
    Step.READ: lambda state: f"round {state.round}: reading {state.wanted} pages",
    Step.CITE: lambda state: f"round {state.round}: taking quotes from the pages",
    Step.JUDGE: lambda state: f"round {state.round}: judging what is still open",
    Step.ANSWER: lambda state: f"writing the answer from {len(state.cited)} sources",
    Step.CHECK: lambda _state: "checking the answer against its quotes",
}
