"""The report: an answer with numbered references, what contradicts, what is missing, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.research.independence import groups
from framework.research.quality import confidence, level, qualities
from framework.research.sentences import cited, pieces
from framework.research.state import Checked, Grounding
from framework.research.stop import FINISHED, REASONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from framework.research.state import Conflict, Quote, Source, State, Usage

__all__ = [
    "Contradiction",
    "Price",
    "Reference",
    "ReferenceQuote",
    "Report",
    "build",
    "safe_answer",
]

_BORNE = 0.5


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in the operator's currency."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Return the cost of what was used."""
        spent = usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion
        return round(spent / 1_000_000, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceQuote:
    """A true quote: `start` and `end` are offsets in the page's Markdown."""

    text: str
    link: str
    start: int
    end: int
    fact: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A numbered source; `copies` are addresses that repeat its text."""

    id: int
    url: str
    title: str
    quotes: tuple[ReferenceQuote, ...]
    quality: float
    published: str | None = None
    copies: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two references that disagree, with the words of each."""

    a: int
    b: int
    a_quote: str
    b_quote: str
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run gives; `markdown` holds all of it for a reader."""

    markdown: str
    answer: str
    references: tuple[Reference, ...]
    unused: tuple[Reference, ...]
    contradictions: tuple[Contradiction, ...]
    uncited: tuple[str, ...]
    unsupported: tuple[str, ...]
    confidence: float
    rounds: int
    finished: bool
    stopped: str
    missing: tuple[str, ...]
    cost: float | None = None


def build(state: State, price: Price | None = None) -> Report:
    """Write the report of a run in any state; without an answer it lists the facts found so far."""
    answer, checked = (state.answer, state.checked) if state.answer else _findings(state)
    order = _order(answer, state)
    values, voice = qualities(state), groups(state.sources)
    numbers = {source: at for at, source in enumerate(order, 1)}
    references = tuple(_reference(state, state.source(one), numbers[one], values) for one in order)
    used = len(_used(answer, state))
    report = Report(
        markdown="",
        answer=_renumbered(answer, numbers),
        references=references[:used],
        unused=references[used:],
        contradictions=tuple(_contradiction(state, one, numbers) for one in state.conflicts),
        uncited=tuple(one.text for one in checked if one.grounding is Grounding.UNCITED),
        unsupported=tuple(
            _renumbered(one.text, numbers) for one in checked if one.grounding in _FAILED
        ),
        confidence=confidence(checked, values, voice),
        rounds=len(state.rounds),
        finished=state.stop in FINISHED and bool(state.answer) and state.cut_at is None,
        stopped=REASONS[state.stop] if state.stop else "it is not finished",
        missing=_missing(state),
        cost=price.of(state.usage) if price and state.usage.calls else None,
    )
    return _written(report, state)


_FAILED = frozenset({Grounding.CONTRADICTED, Grounding.UNSUPPORTED})


def _findings(state: State) -> tuple[str, tuple[Checked, ...]]:
    """The facts of all quotes, for a run that has no answer."""
    lines, checked = [], []
    for source in state.cited:
        for quote in source.quotes:
            text = f"{_stated(quote)} [{source.id}]"
            lines.append(f"- {text}")
            checked.append(Checked(text=text, grounding=Grounding.ENTAILED, sources=(source.id,)))
    return "\n".join(lines), tuple(checked)


def _stated(quote: Quote) -> str:
    text = quote.fact if quote.fact and quote.support >= _BORNE else quote.text
    return _plain(text)


def _used(answer: str, state: State) -> tuple[int, ...]:
    known = {source.id for source in state.cited}
    found = [
        number for piece in pieces(answer) if piece.is_sentence for number in cited(piece.text)
    ]
    return tuple(dict.fromkeys(number for number in found if number in known))


def _order(answer: str, state: State) -> tuple[int, ...]:
    """The ids of all sources with quotes: those that the answer cites first, in its order."""
    rest = (source.id for source in state.cited)
    return tuple(dict.fromkeys((*_used(answer, state), *rest)))


def _renumbered(text: str, numbers: Mapping[int, int]) -> str:
    def number(found: re.Match[str]) -> str:
        return f"[{numbers[int(found[1])]}]" if int(found[1]) in numbers else ""

    return re.sub(r"\[(\d+)\](?!\()", number, text)


def _reference(state: State, source: Source, number: int, values: Mapping[int, float]) -> Reference:
    risky = source.risk != "low"
    warning = f"the page holds instructions aimed at its reader (risk {source.risk})"
    return Reference(
        id=number,
        url=source.url,
        title=source.title,
        published=source.published,
        quality=values.get(source.id, 0.0),
        copies=tuple(one.url for one in state.sources if one.copy_of == source.id),
        warnings=(warning,) if risky else (),
        quotes=tuple(
            ReferenceQuote(
                text=quote.text,
                link=quote.link,
                start=quote.start,
                end=quote.end,
                fact=quote.fact,
            )
            for quote in source.quotes
        ),
    )


def _contradiction(state: State, one: Conflict, numbers: Mapping[int, int]) -> Contradiction:
    return Contradiction(
        a=numbers[one.a[0]],
        b=numbers[one.b[0]],
        a_quote=state.source(one.a[0]).quotes[one.a[1]].text,
        b_quote=state.source(one.b[0]).quotes[one.b[1]].text,
        confidence=one.confidence,
        reason=one.reason,
    )


def _missing(state: State) -> tuple[str, ...]:
    found = [f"open question: {gap}" for gap in state.gaps]
    if state.cut_at is not None:
        found.append(f"the run was cut off at the step {state.cut_at.value}")
    if not state.answer:
        found.append("the answer was not written; the facts found are listed instead")
    elif not state.checked:
        found.append("the answer was not checked against its quotes")
    unread = sum(1 for source in state.sources if source.excerpts)
    if unread:
        found.append(f"{unread} page(s) that were read are not yet cited")
    return tuple(found)


# Writing


def _written(report: Report, state: State) -> Report:
    parts = [
        f"# {_plain(state.task.objective)}",
        "" if report.finished else _unfinished(report),
        report.answer or "Nothing was found.",
        _section("Contradictions between sources", map(_contradiction_line, report.contradictions)),
        _section("Statements without a source", (f"- {text}" for text in report.uncited)),
        _section("Open", (f"- {_plain(text)}" for text in report.missing)),
        _section("References", map(_reference_lines, report.references)),
        _section("Unused references", map(_reference_lines, report.unused)),
        _section("Context", _context(report, state)) if state.task.attach_context else "",
        _section("Method", _method(report, state)),
        f"*Confidence: {report.confidence:.0%} ({level(report.confidence)})*",
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    values = {name: getattr(report, name) for name in Report.__slots__}
    return Report(**{**values, "markdown": text})


def _unfinished(report: Report) -> str:
    return f"**Not finished: {report.stopped}.**"


def _section(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"## {title}\n\n{body}" if body else ""


def _contradiction_line(one: Contradiction) -> str:
    return (
        f"- [{one.a}] “{_plain(one.a_quote)}” against [{one.b}] “{_plain(one.b_quote)}” "
        f"({one.reason or 'meaning'}, {one.confidence:.0%})"
    )


def _reference_lines(one: Reference) -> str:
    date = f", {one.published[:10]}" if one.published else ""
    lines = [
        f"{one.id}. {_plain(one.title)}{date}, <{_address(one.url)}> (quality {one.quality:.2f})"
    ]
    lines += [f"   - “{_plain(quote.text)}” [↗]({_address(quote.link)})" for quote in one.quotes]
    lines += [f"   - copied by <{_address(url)}>" for url in one.copies]
    lines += [f"   - warning: {warning}" for warning in one.warnings]
    return "\n".join(lines)


def _context(report: Report, state: State) -> Iterable[str]:
    by_url = {source.url: source for source in state.sources}
    for reference in report.references:
        for quote in by_url[reference.url].quotes:
            yield f"[{reference.id}] {_plain(quote.context)}\n"


def _method(report: Report, state: State) -> Iterable[str]:
    copies = sum(source.copy_of is not None for source in state.sources)
    usage = state.usage
    about = "about " if usage.estimated else ""
    yield f"- Stopped because {report.stopped}."
    yield (
        f"- {report.rounds} rounds, {len(state.queries)} queries, {state.found} results, "
        f"{len(state.sources)} pages read ({copies} copies), {len(state.misses)} not usable."
    )
    yield f"- Queries: {'; '.join(_plain(query) for query in state.queries) or 'none'}."
    for engine in state.engines:
        trouble = (
            f", {engine.failures} failed ({_plain(engine.trouble)})" if engine.failures else ""
        )
        yield f"- Engine {engine.id}: {engine.searches} searches, {engine.rows} rows{trouble}."
    for miss in state.misses[:10]:
        yield f"- Not usable: <{_address(miss.url)}>: {_plain(miss.reason)}."
    dropped = sum(source.dropped for source in state.sources)
    if dropped:
        yield f"- {dropped} quotes were dropped because they do not stand on their page."
    if state.invented:
        yield f"- {len(state.invented)} citations of sources that do not exist were taken out."
    model = f" of {_plain(usage.model)}" if usage.model else ""
    cost = f", cost {report.cost:.4f}" if report.cost is not None else ""
    yield (
        f"- {usage.calls} answers{model}: {about}{usage.prompt_tokens} tokens in, "
        f"{about}{usage.completion_tokens} out{cost}."
    )
    for note in state.notes[-10:]:
        yield f"- {_plain(note)}"


_ESCAPED = str.maketrans({"<": "&lt;", "[": "\\[", "]": "\\]", "`": "\\`"})


def _plain(text: str) -> str:
    """Text from elsewhere as one line of Markdown that shows as it is."""
    return " ".join(text.translate(_ESCAPED).split())


def _address(url: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in ' <>()"\\\n' else char for char in url)


_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)|!\[([^\]]*)\]\[[^\]]*\]")
_LINK = re.compile(r"\[([^\]]*)\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s.*$\n?", re.M)


def safe_answer(text: str, urls: Sequence[str]) -> str:
    """Return a model's Markdown without what could send data away: images, foreign links, HTML."""

    def link(found: re.Match[str]) -> str:
        return found[0] if found[2] in urls else found[1]

    plain = _IMAGE.sub(lambda found: found[1] or found[2] or "", text)
    return _LINK.sub(link, _DEFINITION.sub("", plain)).replace("<", "&lt;").strip()
