"""The state of a research run: one frozen value that can be stored, loaded and continued."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import TypeAdapter

__all__ = [
    "Candidate",
    "Checked",
    "Conflict",
    "Digest",
    "EngineTally",
    "Excerpt",
    "Grounding",
    "Miss",
    "Quote",
    "Retry",
    "RoundStats",
    "Source",
    "Staged",
    "State",
    "Step",
    "Stop",
    "Task",
    "Usage",
    "dump",
    "load",
]


class Step(StrEnum):
    """What a run does next; `judge` leads to another `plan` or to `answer`."""

    PLAN = "plan"
    SEARCH = "search"
    SELECT = "select"
    READ = "read"
    CITE = "cite"
    JUDGE = "judge"
    ANSWER = "answer"
    CHECK = "check"
    DONE = "done"


class Stop(StrEnum):
    """Why a run stopped collecting."""

    COMPLETE = "complete"
    SATURATED = "saturated"
    LOOPS = "max_loops"
    URLS = "max_citation_urls"
    NOTHING_FOUND = "nothing_found"
    EXCHANGES = "client_rounds"
    TIME = "time_budget"
    LLM_FAILED = "llm_failed"
    CANCELLED = "cancelled"


class Grounding(StrEnum):
    """How a sentence of the answer stands to the quotes that it cites."""

    ENTAILED = "entailed"
    GROUNDED = "grounded"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    UNCITED = "uncited"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is asked, and its bounds.

    `max_citation_urls` is the most pages that are read (-1: no limit); `time_budget` is in seconds;
    `saturation` is the share of a round's facts that were known already from which on the round
    counts as saturated; `max_exchanges` how often the model can be asked at all (None: no limit);
    `today` an ISO date.
    """

    objective: str
    today: str
    max_loops: int = 20
    results_per_engine: int = 5
    max_citation_urls: int = 10
    time_budget: float = 600.0
    saturation: float = 0.6
    max_exchanges: int | None = None
    attach_context: bool = False
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A search result that may be read; `key` is its identity."""

    key: str
    url: str
    title: str
    snippet: str
    score: float
    indexes: tuple[str, ...] = ()
    published: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A passage of a page: `start` is its offset in the page's Markdown."""

    text: str
    start: int
    section: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words that stand on a page at `start` to `end` of its Markdown, and the fact they bear.

    `support` (0 to 1) says how well the words bear the fact; `link` leads to them on the page.
    """

    text: str
    start: int
    end: int
    fact: str
    link: str
    context: str = ""
    support: float = 0.0
    round: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What is kept of a fetched page; `unusable` says why it is none."""

    url: str
    title: str
    published: str | None
    risk: str
    excerpts: tuple[Excerpt, ...]
    sketch: tuple[int, ...]
    unusable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A page that was read; `excerpts` are there until its quotes were taken.

    `copy_of` is the id of the earlier source that has the same text; `sketch` are the smallest
    hashes of its word sequences, `risk` what the scan for instructions to the reader said.
    """

    id: int
    key: str
    url: str
    title: str
    domain: str
    published: str | None = None
    indexes: tuple[str, ...] = ()
    risk: str = "low"
    copy_of: int | None = None
    sketch: tuple[int, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    quotes: tuple[Quote, ...] = ()
    dropped: int = 0
    round: int = 1


@dataclass(frozen=True, slots=True)
class Staged:
    """A page that has come while others of its wave are still on their way."""

    key: str
    page: Digest | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Miss:
    """A page that could not be used, and why."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Retry:
    """A quote that was not found on its page and is asked for once more."""

    source: int
    quote: str
    fact: str
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStats:
    """One finished round in numbers; `known` of its facts were known before."""

    number: int
    queries: int = 0
    candidates: int = 0
    pages: int = 0
    facts: int = 0
    known: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two sources that disagree: (source, number of the quote) on each side."""

    a: tuple[int, int]
    b: tuple[int, int]
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTally:
    """What one engine gave over a run."""

    id: str
    searches: int = 0
    rows: int = 0
    failures: int = 0
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the model took; `estimated` where its server counts no tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    model: str = ""

    def plus(self, other: Usage) -> Usage:
        """Return both together."""
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            estimated=self.estimated or other.estimated,
            model=other.model or self.model,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A sentence of the answer after the check; `sources` are those that it still cites."""

    text: str
    grounding: Grounding
    sources: tuple[int, ...] = ()
    against: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that a run knows between two steps.

    `spent` counts seconds of work, pauses between two parts of a run left out.
    """

    task: Task
    step: Step = Step.PLAN
    round: int = 1
    queries: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    pool: tuple[Candidate, ...] = ()
    seen: tuple[str, ...] = ()
    chosen: tuple[Candidate, ...] = ()
    staged: tuple[Staged, ...] = ()
    wanted: int = 0
    found: int = 0
    sources: tuple[Source, ...] = ()
    misses: tuple[Miss, ...] = ()
    retries: tuple[Retry, ...] = ()
    gaps: tuple[str, ...] = ()
    judged: bool = False
    rounds: tuple[RoundStats, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    engines: tuple[EngineTally, ...] = ()
    usage: Usage = Usage()
    exchanges: int = 0
    failures: int = 0
    stop: Stop | None = None
    cut_at: Step | None = None
    draft: str = ""
    checked: tuple[Checked, ...] = ()
    answer: str = ""
    invented: tuple[int, ...] = ()
    spent: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def cited(self) -> tuple[Source, ...]:
        """The sources that have quotes."""
        return tuple(source for source in self.sources if source.quotes)

    def source(self, number: int) -> Source:
        """Return the source of that id."""
        return self.sources[number - 1]


_STATE: TypeAdapter[State] = TypeAdapter(State)


def dump(state: State) -> bytes:
    """Write a state as JSON."""
    return _STATE.dump_json(state)


def load(text: bytes) -> State:
    """Read what `dump` wrote; raises ValueError for anything else."""
    return _STATE.validate_json(text)
