"""The models of an engine file: frozen, closed, one class per key of the language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from framework.spec.ask import (
    DECLARABLE,
    CountInput,
    DeclaredVerdict,
    DomainsInput,
    FormPaging,
    Inputs,
    Key,
    LinkPaging,
    OffsetPaging,
    PagePaging,
    Paging,
    QueryInput,
    RegionInput,
    Request,
    SessionStep,
    Setting,
    SinceInput,
    TokenPaging,
)
from framework.spec.base import Flag, Frozen, Model, Name, Rate, Span, Text, Whole, fault
from framework.spec.elements import (
    NATIVE,
    Condition,
    Filter,
    Format,
    Pick,
    Picks,
    Selector,
    native,
)
from framework.types import FetchMode, Kind, Status, Verdict

__all__ = [
    "DECLARABLE",
    "About",
    "Condition",
    "Cooldown",
    "CountInput",
    "DomainsInput",
    "Embedded",
    "Fetch",
    "Filter",
    "FormPaging",
    "Inputs",
    "Key",
    "Limits",
    "LinkPaging",
    "OffsetPaging",
    "PagePaging",
    "Paging",
    "Pick",
    "Picks",
    "QueryInput",
    "RegionInput",
    "Request",
    "Response",
    "Rows",
    "Selector",
    "SessionStep",
    "Setting",
    "SinceInput",
    "Spec",
    "TestCase",
    "TokenPaging",
    "VerdictRule",
]


class About(Model):
    """Who is behind an engine."""

    site: Text | None = None
    docs: Text | None = None
    official_api: Flag = False
    """The operator offers this interface to programs."""
    index: Name | None = None
    """The index lineage that the answers come from; consensus counts a lineage once."""
    weight: Annotated[float, Field(gt=0, le=10)] = 1.0
    """How much a vote of this engine counts."""


class VerdictRule(Model):
    """One entry of `verdicts`: a map of one verdict to its condition."""

    verdict: DeclaredVerdict
    when: Condition

    @model_validator(mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, Mapping) and len(value) == 1:
            verdict, when = next(iter(value.items()))
            return {"verdict": verdict, "when": when}
        raise fault(
            "verdict",
            "must be a map of one verdict to its condition",
            "such as captcha: {css: form#captcha}",
        )


class Embedded(Model):
    """Where JSON is hidden in a page: in an element, between two literal texts, or both."""

    css: Text | None = None
    after: Text | None = None
    before: Text | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.css is None and self.after is None:
            raise fault("embedded", 'needs "css" or "after"', "such as {after: 'window.DATA = '}")
        return self


class Rows(Model):
    """Which parts of the answer are hits; `keep` and `drop` are tried on each of them."""

    each: Selector
    keep: Condition | None = None
    drop: Condition | None = None


class Response(Model):
    """How an answer is read."""

    format: Format
    embedded: Embedded | None = None
    namespaces: Frozen[Text] = Field(default_factory=dict)
    rows: Rows
    fields: Frozen[Picks]
    extras: Frozen[Picks] = Field(default_factory=dict)


class Fetch(Model):
    """How requests leave."""

    mode: FetchMode = FetchMode.HTTP
    proxy: Text = "default"
    """A pool's name, or `direct`: works without a proxy."""
    sticky: Literal["query", "engine"] | None = None
    """Whose requests share proxy, cookie jar and user agent."""
    same_site: tuple[Text, ...] = ()
    """Hosts, besides the engine's own, that next pages and sessions may lead to."""
    robots: Literal["obey", "warn"] | None = None
    """Whether robots.txt counts for the engine's own pages; default: it is not asked for."""


class Cooldown(Model):
    """How long a verdict rests the engine; headers named in `from` go first."""

    from_: tuple[Text, ...] = Field(default=(), alias="from")
    changed: Span | None = None
    captcha: Span | None = None
    consent: Span | None = None
    blocked: Span | None = None
    rate_limited: Span | None = None
    quota: Span | None = None
    unauthorised: Span | None = None
    unrelated: Span | None = None
    timeout: Span | None = None
    error: Span | None = None

    def seconds(self, verdict: Verdict) -> float | None:
        """Return the declared rest after this verdict, or None where the default holds."""
        value: float | None = getattr(self, verdict.value, None)
        return value


class Limits(Model):
    """How hard the engine may be asked; `timeout` is in seconds."""

    rate: Rate | None = None
    concurrency: Annotated[Whole, Field(ge=1, le=64)] | None = None
    timeout: Annotated[Span, Field(gt=0, le=120)] | None = None
    cooldown: Cooldown = Cooldown()


class TestCase(Model):
    """A recorded answer and what must be read from it."""

    case: Name
    expect: Literal[Verdict.OK] | DeclaredVerdict
    rows: Annotated[Whole, Field(ge=0)] | None = None
    """The least number of rows."""


class Spec(Model):
    """A whole engine file, after `extends`."""

    schema_: Literal[1] = Field(alias="schema")
    id: Name
    name: Text
    about: About = About()
    kind: Kind
    status: Status = Status.EXPERIMENTAL
    replaced_by: Name | None = None
    extends: Name | None = None
    inputs: Inputs = Inputs()
    keys: Frozen[Key] = Field(default_factory=dict)
    settings: Frozen[Setting] = Field(default_factory=dict)
    session: tuple[SessionStep, ...] = ()
    request: Request
    paging: Paging | None = None
    verdicts: tuple[VerdictRule, ...] = ()
    response: Response
    fetch: Fetch = Fetch()
    limits: Limits = Limits()
    tests: tuple[TestCase, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, value: object) -> object:
        return spell_out(value)


def spell_out(value: object) -> object:
    """Return a spec's data with every bare string of a pick spelled out in its native language."""
    if not isinstance(value, Mapping):
        return value
    response = value.get("response")
    form = response.get("format") if isinstance(response, Mapping) else None
    language = NATIVE.get(str(form), "css")
    changed: dict[str, object] = {**value}
    if isinstance(response, Mapping):
        changed["response"] = _response(response, language)
    if isinstance(value.get("paging"), Mapping):
        changed["paging"] = _natives(value["paging"], ("next", "token"), language)
    if isinstance(value.get("session"), list | tuple):
        changed["session"] = [_step(step, language) for step in value["session"]]
    return changed


def _natives(part: object, names: tuple[str, ...] | None, language: str) -> object:
    if not isinstance(part, Mapping):
        return part
    return {
        key: native(item, language) if names is None or key in names else item
        for key, item in part.items()
    }


def _response(response: Mapping[str, object], language: str) -> object:
    changed: dict[str, object] = {**response}
    for key, names in (("fields", None), ("extras", None), ("rows", ("each",))):
        if key in response:
            changed[key] = _natives(response[key], names, language)
    return changed


def _step(step: object, language: str) -> object:
    if not isinstance(step, Mapping) or "take" not in step:
        return step
    own = NATIVE.get(str(step.get("format")), language)
    return {**step, "take": _natives(step["take"], None, own)}
