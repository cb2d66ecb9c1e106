"""The step that reads pages: several at once, each kept as soon as it is there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError
from framework.research.independence import copied
from framework.research.reading import digest, source_of
from framework.research.state import Miss, Source, Staged, State, Step
from framework.research.tools import all_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.research.state import Candidate
    from framework.research.tools import Tools

__all__ = ["read"]


async def read(state: State, tools: Tools) -> State:
    """Read the chosen pages, until enough are usable.

    Every page is kept as soon as it is there, and taken up in the order of the choice.
    """
    question = " ".join((state.task.objective, *state.gaps))
    while state.chosen and (missing := state.wanted - _read_now(state)) > 0:
        wave = _Wave(state, state.chosen[:missing], tools)
        await all_of(wave.read(one, question) for one in wave.waiting)
        state = wave.taken_up()
    return replace(state, chosen=(), step=Step.CITE)


def _read_now(state: State) -> int:
    return sum(source.round == state.round and source.copy_of is None for source in state.sources)


class _Wave:
    """Pages that are read at once; those that a continued run has already are not read again."""

    def __init__(self, state: State, wave: Sequence[Candidate], tools: Tools) -> None:
        self._state = state
        self._wave = wave
        self._tools = tools

    @property
    def waiting(self) -> list[Candidate]:
        there = {staged.key for staged in self._state.staged}
        return [one for one in self._wave if one.key not in there]

    async def read(self, candidate: Candidate, question: str) -> None:
        async with self._tools.room:
            try:
                document = await self._tools.fetch(candidate.url)
            except ConsilienceError as error:
                self._arrived(Staged(candidate.key, None, error.message))
                return
            page = await asyncio.to_thread(digest, document, question)
            del document
        self._arrived(Staged(candidate.key, page, page.unusable))

    def _arrived(self, staged: Staged) -> None:
        self._state = replace(self._state, staged=(*self._state.staged, staged))
        self._tools.keep(self._state)

    def taken_up(self) -> State:
        there = {staged.key: staged for staged in self._state.staged}
        rest = self._state.chosen[len(self._wave) :]
        state = replace(self._state, staged=(), chosen=rest)
        for candidate in self._wave:
            state = _visited(state, candidate, there[candidate.key])
        return state


def _visited(state: State, candidate: Candidate, staged: Staged) -> State:
    state = replace(
        state,
        seen=(*state.seen, candidate.key),
        pool=tuple(one for one in state.pool if one.key != candidate.key),
    )
    if staged.page is None or staged.reason:
        return replace(state, misses=(*state.misses, Miss(candidate.url, staged.reason)))
    source = source_of(candidate, staged.page, len(state.sources) + 1, state.round)
    return replace(state, sources=(*state.sources, _as_copy(source, state.sources)))


def _as_copy(source: Source, earlier: Sequence[Source]) -> Source:
    for one in earlier:
        if one.copy_of is None and copied(source.sketch, one.sketch):
            return replace(source, copy_of=one.id, excerpts=())
    return source
