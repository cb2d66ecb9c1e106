"""Whole runs over the made-up world: traps, bounds, stops, cancelling at every step, going on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from framework.errors import UnavailableError
from framework.research.report import Report, build
from framework.research.state import State, Step, Stop, dump, load
from tests.research_world.model import INVENTED, Model
from tests.research_world.running import research, task, tools
from tests.research_world.world import BIG, COPIES, FALSE_NUMBER, ORIGINAL, World, sites

if TYPE_CHECKING:
    from pathlib import Path

    from framework.llm import Completion, Prompt
    from framework.reading import Document
    from framework.types import SearchAnswer


@pytest.fixture(scope="module")
def told() -> tuple[Report, State, World, Model]:
    """One run with a model that misbehaves and never has enough."""
    world, model = World(filler=None), Model(tireless=True)
    run = research(world, model, results_per_engine=10)
    state = asyncio.run(run.run())
    return build(state), state, world, model


def plain(text: str) -> str:
    return " ".join(text.split())


def test_every_quote_stands_on_its_page(told: tuple[Report, State, World, Model]) -> None:
    report, _, _, _ = told
    references = [*report.references, *report.unused]

    assert len(references) > 10
    for reference in references:
        body = plain(" ".join(sites()[reference.url].body))
        assert [quote.text for quote in reference.quotes if quote.text not in body] == []
    assert INVENTED not in report.markdown


def test_copies_are_one_source(told: tuple[Report, State, World, Model]) -> None:
    report, state, _, _ = told
    copies = {url for one in report.references for url in one.copies}
    family = {*COPIES, ORIGINAL}
    cited = {one.url for one in (*report.references, *report.unused)}

    assert len(copies & family) == 2
    assert len(cited & family) == 1
    assert all(not one.quotes for one in state.sources if one.copy_of)


def test_contradictions_have_both_sides(told: tuple[Report, State, World, Model]) -> None:
    report, _, _, _ = told
    pairs = [{one.a_quote, one.b_quote} for one in report.contradictions]

    def sides(one: str, other: str) -> bool:
        return any(
            any(one in text for text in pair) and any(other in text for text in pair)
            for pair in pairs
        )

    assert sides("540 gigawatt hours", "410 gigawatt hours")
    assert sides("240 megawatts", FALSE_NUMBER)
    assert "## Contradictions between sources" in report.markdown


def test_orders_of_a_page_are_not_followed(told: tuple[Report, State, World, Model]) -> None:
    report, _, _, model = told
    wire = [one for one in (*report.references, *report.unused) if "tide-wire" in one.url]

    assert "PINEAPPLE" not in report.markdown
    assert "collector.example" not in report.markdown
    assert [bool(one.warnings) for one in wire] == [True]
    assert any("PINEAPPLE" in prompt and "⟦" in prompt for prompt in model.prompts)


def test_false_citations_do_not_survive(told: tuple[Report, State, World, Model]) -> None:
    report, state, _, _ = told

    assert "[99]" not in report.markdown
    assert "480" not in report.answer
    assert "houses 24 bulb turbines" in report.answer
    assert any("golden statue" in one for one in report.unsupported)
    assert "not borne out" in report.answer
    assert {"sailor" in one or "Bors" in one for one in report.uncited} == {True}
    assert state.invented == (99,)
    assert sum(source.dropped for source in state.sources) >= 1


def test_dead_and_walled_pages_are_told(told: tuple[Report, State, World, Model]) -> None:
    _, state, world, _ = told
    missed = {one.url for one in state.misses}

    assert "https://dead-page.example/barrage-history" in missed
    assert "https://crownpost.example/premium/barrage-cost" in missed
    assert max(world.fetched.values()) == 1


def test_a_fact_deep_in_a_large_page_is_found(told: tuple[Report, State, World, Model]) -> None:
    report, _, _, _ = told
    (logbook,) = [one for one in (*report.references, *report.unused) if one.url == BIG]

    assert "9,400 megawatt hours" in logbook.quotes[0].text
    assert logbook.quotes[0].start > 3_000_000


def test_the_misspelt_quote_is_had_at_the_second_try(
    told: tuple[Report, State, World, Model],
) -> None:
    report, _, _, model = told
    (museum,) = [one for one in (*report.references, *report.unused) if "museum" in one.url]

    assert model.asked["retry"] >= 1
    assert any("Parliament passed" in quote.text for quote in museum.quotes)


@pytest.mark.parametrize(
    ("bounds", "stop"),
    [
        ({"max_loops": 1}, Stop.LOOPS),
        ({"max_loops": 2}, Stop.LOOPS),
        ({"max_citation_urls": 4}, Stop.URLS),
        ({"max_citation_urls": 0}, Stop.URLS),
        ({"max_exchanges": 6}, Stop.EXCHANGES),
        ({"saturation": 0.0}, Stop.SATURATED),
    ],
    ids=["one-round", "two-rounds", "four-pages", "no-page", "exchanges", "saturation"],
)
async def test_bounds_are_kept(bounds: dict[str, Any], stop: Stop) -> None:
    model = Model(tireless=True, misbehaves=False)
    run = research(World(), model, **bounds)

    state = await run.run()

    assert state.stop is stop
    assert len(state.rounds) <= bounds.get("max_loops", 50)
    if "max_citation_urls" in bounds:
        assert len(state.sources) <= bounds["max_citation_urls"]
    assert state.exchanges <= bounds.get("max_exchanges", 100)
    report = build(state)
    assert report.finished is (bounds.get("max_citation_urls") != 0)


async def test_a_model_that_has_enough_ends_the_run() -> None:
    run = research(World(), Model(misbehaves=False))

    state = await run.run()

    assert state.stop is Stop.COMPLETE
    assert not state.gaps
    assert build(state).confidence > 0.5


async def test_the_named_engines_and_rows_alone_count() -> None:
    world = World(engines=("beta",))
    run = research(world, Model(misbehaves=False), results_per_engine=1, max_loops=1)

    state = await run.run()

    assert [one.id for one in state.engines] == ["beta"]
    assert state.found <= len(state.queries)


async def test_duplicate_queries_are_not_asked_again() -> None:
    world = World()

    await research(world, Model(tireless=True), max_loops=4).run()

    assert len({query.casefold() for query in world.queries}) == len(world.queries)


class Stuck:
    """Hangs at one step's work until it is cancelled, and counts what still runs."""

    def __init__(self, world: World, model: Model, at: Step) -> None:
        self._world = world
        self._model = model
        self._at = at
        self.reached = asyncio.Event()
        self.running = 0

    async def _hang(self) -> None:
        self.reached.set()
        self.running += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.running -= 1

    async def search(self, query: str, language: str | None) -> SearchAnswer:
        if self._at is Step.SEARCH:
            await self._hang()
        return await self._world.search(query, language)

    async def fetch(self, url: str) -> Document:
        if self._at is Step.READ:
            await self._hang()
        return await self._world.fetch(url)

    async def complete(self, prompt: Prompt) -> Completion:
        task_of = {
            Step.PLAN: "plan",
            Step.CITE: "quotes",
            Step.JUDGE: "judge",
            Step.ANSWER: "answer",
            Step.CHECK: "repair",
        }
        if f'"task": "{task_of.get(self._at)}"' in prompt.user:
            await self._hang()
        return await self._model.complete(prompt)


WAITING = [step for step in Step if step not in (Step.SELECT, Step.DONE)]


def stuck_run(at: Step, **bounds: Any) -> tuple[Any, Stuck]:
    stuck = Stuck(World(), Model(), at)
    run = research(World(), stuck, **{"max_loops": 1, **bounds})
    run._tools = tools(World(), stuck, keep=run._tools.keep)
    object.__setattr__(run._tools, "search", stuck.search)
    object.__setattr__(run._tools, "fetch", stuck.fetch)
    return run, stuck


@pytest.mark.parametrize("at", WAITING, ids=[step.value for step in WAITING])
async def test_cancelled_at_every_step_there_is_a_partial_report(at: Step) -> None:
    run, stuck = stuck_run(at)
    cancel = asyncio.Event()
    running = asyncio.create_task(run.run(cancel))
    await asyncio.wait_for(stuck.reached.wait(), 60)

    cancel.set()
    state = await asyncio.wait_for(running, 60)

    assert state.stop is Stop.CANCELLED
    assert state.cut_at is at
    report = build(state)
    assert not report.finished
    assert any(at.value in one for one in report.missing)
    assert stuck.running == 0
    assert not [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]


@pytest.mark.parametrize("at", WAITING, ids=[step.value for step in WAITING])
async def test_a_cancelled_task_leaves_nothing_running(at: Step) -> None:
    run, stuck = stuck_run(at)
    running = asyncio.create_task(run.run())
    await asyncio.wait_for(stuck.reached.wait(), 60)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert stuck.running == 0
    assert run.state.stop is not Stop.CANCELLED
    assert run.state.step is at


async def test_the_time_budget_ends_a_hanging_step() -> None:
    steps = (Step.SEARCH, Step.READ, Step.CITE, Step.CHECK)
    runs = [stuck_run(at, time_budget=2.0) for at in steps]

    states = await asyncio.wait_for(asyncio.gather(*(run.run() for run, _ in runs)), 60)

    for at, state, (_, stuck) in zip(steps, states, runs, strict=True):
        assert state.stop is Stop.TIME, at
        assert not build(state).finished, at
        assert stuck.running == 0, at


async def test_a_cancelled_run_goes_on() -> None:
    run, stuck = stuck_run(Step.JUDGE)
    saved: list[bytes] = []
    run._save = lambda state: saved.append(dump(state))
    cancel = asyncio.Event()
    running = asyncio.create_task(run.run(cancel))
    await asyncio.wait_for(stuck.reached.wait(), 60)
    cancel.set()
    await running

    world = World()
    again = research(world, Model(), load(saved[-1]))
    state = await again.run()

    assert state.stop is Stop.LOOPS
    assert not world.fetched


class Failing:
    async def complete(self, prompt: Prompt) -> Completion:
        raise UnavailableError("no model today")


async def test_a_model_that_fails_ends_the_run_with_what_there_is() -> None:
    state = await research(World(), Failing()).run()

    assert state.stop is Stop.LLM_FAILED
    report = build(state)
    assert not report.finished
    assert "no model today" in report.markdown


def test_equal_states_give_equal_prompts() -> None:
    first, second = Model(tireless=True), Model(tireless=True)
    for model in (first, second):
        asyncio.run(research(World(), model, max_loops=2).run())

    assert sorted(first.prompts) == sorted(second.prompts)


def test_a_state_survives_storing(told: tuple[Report, State, World, Model]) -> None:
    _, state, _, _ = told

    assert load(dump(state)) == state
    assert State(task=task()) == load(dump(State(task=task())))


def process(folder: Path, die_in: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.research_world.running", str(folder), str(die_in)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_killed_in_round_three_it_goes_on(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()

    undisturbed = process(whole, 0)
    died = process(killed, 3)
    resumed = process(killed, 0)

    assert undisturbed.returncode == 0, undisturbed.stderr
    assert died.returncode == -9
    assert resumed.stdout == undisturbed.stdout
    fetched = (killed / "fetched.txt").read_text().split()
    assert len(fetched) == len(set(fetched))
    assert sorted(fetched) == sorted((whole / "fetched.txt").read_text().split())
