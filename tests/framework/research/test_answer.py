"""An answer taken apart, checked against its quotes, and made safe."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from framework.errors import UnavailableError
from framework.llm import Completion, Prompt
from framework.research.asking import Question, ask
from framework.research.check import MARK, check, failing, replaced
from framework.research.report import safe_answer
from framework.research.sentences import cited, claim_of, is_factual, normalised, pieces
from framework.research.state import Grounding, Quote, Source, State, Task
from tests.research_world.running import lexical

if TYPE_CHECKING:
    from collections.abc import Sequence

TASK = Task(objective="the barrage", today="2026-11-29")


def source(number: int, *texts: str) -> Source:
    quotes = tuple(Quote(text=text, start=0, end=1, fact=text, link="") for text in texts)
    url = f"https://s{number}.example/"
    return Source(
        id=number, key=url, url=url, title="t", domain=f"s{number}.example", quotes=quotes
    )


STATE = State(
    task=TASK,
    sources=(
        source(1, "The barrage has 24 turbines with a capacity of 240 megawatts."),
        source(2, "Dunlin numbers fell from 42,000 in 1995 to 19,000 in 2010."),
    ),
)


@pytest.mark.parametrize(
    ("sentence", "ids"),
    [
        ("So [1].", (1,)),
        ("So [1, 2].", (1, 2)),
        ("So [1][3].", (1, 3)),
        ("So [2-4].", (2, 3, 4)),
        ("So [^7].", (7,)),
        ("So [1](https://x.example).", ()),
        ("So [a].", ()),
        ("So [1-900].", ()),
    ],
    ids=["one", "list", "row", "range", "footnote", "link", "word", "absurd"],
)
def test_citations(sentence: str, ids: tuple[int, ...]) -> None:
    assert cited(sentence) == ids


def test_unknown_citations_are_taken_out() -> None:
    assert normalised("It is so [1, 99].", {1}) == "It is so [1]."
    assert normalised("It is so [99].", {1}) == "It is so."
    assert claim_of("**It** is so [1].") == "It is so."


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One is so [1]. Two is so. [2] Three", ["One is so [1].", "Two is so. [2]", "Three"]),
        ("# Title\n\n- A thing [1].\n- Another", ["A thing [1].", "Another"]),
        (
            "Dr. Bell met A. Mill at 3.5 metres. He left.",
            ["Dr. Bell met A. Mill at 3.5 metres.", "He left."],
        ),
        ("```\ncode. here.\n```\nText.", ["Text."]),
        ("人口は多い。[1]面積は広い。", ["人口は多い。[1]", "面積は広い。"]),
        ("| a | b. c |", ["| a | b. c |"]),
    ],
    ids=["citations", "marks", "short-forms", "code", "unspaced", "table"],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [piece.text for piece in pieces(text) if piece.is_sentence] == sentences


@given(st.text(max_size=200))
def test_the_pieces_are_the_answer(text: str) -> None:
    assert "".join(piece.text for piece in pieces(text)) == text


@pytest.mark.parametrize(
    ("claim", "factual"),
    [
        ("It opened in 1998.", True),
        ("Bors led it.", False),
        ("Later Bors led it.", True),
        ("Birds left.", False),
        ("What happened to the birds there?", False),
        ("The effects on the estuary were these:", False),
        ("The estuary lost a part of its mud.", True),
    ],
    ids=["number", "short", "name", "few", "question", "lead", "words"],
)
def test_what_needs_a_source(claim: str, factual: bool) -> None:
    assert is_factual(claim) is factual


@pytest.mark.parametrize(
    ("sentence", "grounding"),
    [
        ("The barrage has 24 turbines [1].", Grounding.ENTAILED),
        ("The barrage has 48 turbines [1].", Grounding.CONTRADICTED),
        ("Its statue draws two million pilgrims every year [1].", Grounding.UNSUPPORTED),
        ("Dunlin numbers fell to 19,000 in 2010 [2].", Grounding.ENTAILED),
        ("The barrage was once led by an admiral.", Grounding.UNCITED),
        ("In short:", Grounding.PLAIN),
    ],
    ids=["true", "false-number", "beside", "other", "uncited", "plain"],
)
def test_a_sentence_is_checked(sentence: str, grounding: Grounding) -> None:
    (found,) = check(sentence, STATE, lexical).sentences

    borne = {Grounding.ENTAILED, Grounding.GROUNDED}
    assert found.grounding in (borne if grounding in borne else {grounding})


def test_what_fails_is_repaired_or_marked() -> None:
    text = "- The barrage has 48 turbines [1].\n- It is old and has a golden statue [1]."
    verdict = check(text, STATE, lexical)
    numbers = [number for number, _ in failing(verdict.sentences)]

    assert numbers == [1, 2]
    repaired = replaced(verdict.text, {1: "The barrage has 24 turbines [1]."})
    last = check(repaired, STATE, lexical, final=True)
    assert last.text.splitlines()[0] == "- The barrage has 24 turbines [1]."
    assert last.text.splitlines()[1].endswith(MARK)


def test_a_citation_that_says_nothing_of_it_is_dropped() -> None:
    verdict = check("The barrage has 24 turbines with 240 megawatts [1][2].", STATE, lexical)

    assert verdict.sentences[0].sources == (1,)
    assert "[2]" not in verdict.text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("![p](https://evil.example/?d=1) text", "p text"),
        ("see [this](https://evil.example/)", "see this"),
        ("see [this](https://good.example/)", "see [this](https://good.example/)"),
        ("<img src=x>", "&lt;img src=x>"),
        ("[r]: https://evil.example/\ntext", "text"),
        ("so it is [1]", "so it is [1]"),
    ],
    ids=["image", "foreign", "source", "html", "definition", "citation"],
)
def test_nothing_leads_away_from_an_answer(text: str, safe: str) -> None:
    assert safe_answer(text, ["https://good.example/"]) == safe


class Shape(BaseModel):
    n: int


class Says:
    """Answers in turn what it was given; an exception is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(text=answer)


PROMPT = Prompt(system="s", user="u")


@pytest.mark.parametrize(
    ("answers", "value", "exchanges"),
    [
        (['{"n": 1}'], 1, 1),
        (['```json\n{"n": 2}\n```'], 2, 1),
        (['{"n": ', '{"n": 3}'], 3, 2),
        (['{"n": "x"}', '{"n": 4}'], 4, 2),
        (["Sure! Here it is", "still no"], None, 2),
        ([UnavailableError("down")], None, 1),
    ],
    ids=["good", "fenced", "broken-then-good", "wrong-then-good", "twice-broken", "down"],
)
def test_answers_are_read_strictly_with_one_repair(
    answers: list[str | Exception], value: int | None, exchanges: int
) -> None:
    asked = asyncio.run(ask(Says(*answers), [Question(PROMPT, Shape)]))

    found = asked.of(0, Shape)
    assert (found.n if found else None) == value
    assert asked.exchanges == exchanges
    assert bool(asked.failures) is (value is None)


class StoppingError(Exception):
    pass


class Batching:
    batches = True

    def __init__(self) -> None:
        self.sizes: list[int] = []

    async def complete(self, prompt: Prompt) -> Completion:
        raise AssertionError("asked one by one")

    async def complete_all(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.sizes.append(len(prompts))
        return [Completion(text='{"n": 1}') for _ in prompts]


def test_a_client_with_rounds_is_asked_all_at_once() -> None:
    llm = Batching()

    asked = asyncio.run(ask(llm, [Question(PROMPT, Shape)] * 3))

    assert llm.sizes == [3]
    assert asked.usage.calls == 3
    assert asked.usage.estimated


def test_what_is_no_failure_of_the_model_passes_through() -> None:
    with pytest.raises(StoppingError):
        asyncio.run(ask(Says(StoppingError()), [Question(PROMPT)]))
