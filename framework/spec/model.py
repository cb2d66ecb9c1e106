"""The models of an engine file: frozen, closed, one class per key of the language."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, model_validator

from framework.spec.base import Flag, Frozen, Model, Name, Rate, Scalar, Span, Text, Whole, fault
from framework.spec.base import one_of as _one_of
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
from framework.types import FetchMode, Kind, SafeSearch, Status, TimeRange, Verdict

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

#: The verdicts that a file may declare; the others are the service's own.
DECLARABLE = (
    Verdict.EMPTY,
    Verdict.CHANGED,
    Verdict.CAPTCHA,
    Verdict.CONSENT,
    Verdict.BLOCKED,
    Verdict.RATE_LIMITED,
    Verdict.QUOTA,
    Verdict.UNAUTHORISED,
    Verdict.ERROR,
)

DeclaredVerdict = Literal[
    Verdict.EMPTY,
    Verdict.CHANGED,
    Verdict.CAPTCHA,
    Verdict.CONSENT,
    Verdict.BLOCKED,
    Verdict.RATE_LIMITED,
    Verdict.QUOTA,
    Verdict.UNAUTHORISED,
    Verdict.ERROR,
]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


#: The name of one environment variable, or of several that are read in order.
Env = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")], ...],
    Field(min_length=1),
    BeforeValidator(_listed, json_schema_input_type=str | list[str]),
]
#: A value of `query` or `form`: one template, or several that repeat the parameter.
Values = Scalar | tuple[Scalar, ...]


_FREEZE = AfterValidator(MappingProxyType)


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


class RegionInput(Model):
    """How a region's tag (`de-DE`) becomes the engine's own value; no map passes it through."""

    map: Frozen[str] = Field(default_factory=dict)
    default: str | None = None


class QueryInput(Model):
    """What the engine allows as a query."""

    max_length: Annotated[Whole, Field(ge=1)] | None = None
    """Characters; a longer query is cut at a word."""


class DomainsInput(Model):
    """How domains are asked for: by an operator in the query, or by a parameter of their own."""

    operator: Annotated[str, Field(pattern=r"\{\}")] | None = None
    """The operator with `{}` for the domain: `site:{}`."""
    param: Text | None = None
    """The parameter; a list in a JSON body, else joined by `join`."""
    join: str | None = None
    """What stands between several domains; ` OR ` for included operators, a comma for `param`."""

    @model_validator(mode="before")
    @classmethod
    def _single(cls, value: object) -> object:
        _one_of(value, ("operator", "param"), "the input")
        return value


class SinceInput(Model):
    """How the earliest date is written: a strftime format."""

    format: Text


class CountInput(Model):
    """How many rows may be asked for at once."""

    max: Annotated[Whole, Field(ge=1)]


class Inputs(Model):
    """What the engine supports of the common query; the rest is filtered after, or unsupported."""

    region: RegionInput | None = None
    time: Annotated[Mapping[TimeRange, str], _FREEZE] | None = None
    safe: Annotated[Mapping[SafeSearch, str], _FREEZE] | None = None
    query: QueryInput = QueryInput()
    domains: DomainsInput | None = None
    exclude_domains: DomainsInput | None = None
    since: SinceInput | None = None
    count: CountInput | None = None


class Key(Model):
    """A pool of keys from the environment."""

    env: Env
    rotate: Literal["last-good", "least-used", "round-robin"] = "last-good"
    rest_on: tuple[DeclaredVerdict, ...] = (
        Verdict.RATE_LIMITED,
        Verdict.QUOTA,
        Verdict.UNAUTHORISED,
    )
    """Verdicts that rest the key, not the engine."""
    retire_on: tuple[DeclaredVerdict, ...] = ()
    """Verdicts after which the key is not used again."""
    optional: Flag = False
    """The engine also works without a key."""


class Setting(Model):
    """A non-secret value of the operator, such as an instance's address."""

    env: Env
    default: str | None = None
    optional: Flag = False
    """The engine also works without it; what touches it is then not sent."""


class Request(Model):
    """One request as templates; `query` and `form` are form-encoded, the address by segment."""

    url: Text
    mirrors: tuple[Text, ...] = ()
    """Other https addresses that serve the same; scheme and host replace those of `url`."""
    method: Literal["GET", "POST"] | None = None
    """Default: POST where there is a body, else GET."""
    query: Frozen[Values] = Field(default_factory=dict)
    form: Frozen[Values] | None = None
    json_: JsonValue = Field(default=None, alias="json")
    text: str | None = None
    headers: Frozen[Scalar] = Field(default_factory=dict)
    cookies: Frozen[Scalar] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _one_body(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        bodies = [key for key in ("form", "json", "text") if key in value]
        if len(bodies) > 1:
            raise fault("body", f"has more than one body: {', '.join(bodies)}")
        if bodies and value.get("method") == "GET":
            raise fault("body", f'a GET request has no body: "{bodies[0]}"', "use method: POST")
        return value

    @property
    def verb(self) -> str:
        """The method that is sent."""
        has_body = self.form is not None or self.json_ is not None or self.text is not None
        return self.method or ("POST" if has_body else "GET")


class SessionStep(Model):
    """A request made before the search request, whose taken values the templates may use."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    request: Request
    format: Format | None = None
    """The language of this answer; default: that of `response`."""
    take: Frozen[Picks]
    ttl: Span | None = None
    """How long the values are kept; default: 5 minutes."""
    scope: Literal["query", "proxy", "engine"] = "query"
    """Who shares the values: one query, all that leave by one proxy, or all."""


_Max = Annotated[Whole, Field(ge=1, le=1000)]


class PagePaging(Model):
    """Pages are counted; `first` is the number of the first one."""

    by: Literal["page"]
    size: _Max | None = None
    first: Annotated[Whole, Field(ge=0)] = 1
    max: _Max | None = None


class OffsetPaging(Model):
    """Rows are counted; `first` is the number of the first row."""

    by: Literal["offset"]
    size: _Max
    first: Annotated[Whole, Field(ge=0)] = 0
    max: _Max | None = None


class LinkPaging(Model):
    """The answer links to the next page."""

    by: Literal["link"]
    next: Picks
    size: _Max | None = None
    max: _Max | None = None


class FormPaging(Model):
    """The answer holds a form that asks for the next page; all its inputs are sent."""

    by: Literal["form"]
    form: Text
    """CSS of the form."""
    size: _Max | None = None
    max: _Max | None = None


class TokenPaging(Model):
    """The answer holds a cursor that the next request carries as `session.<send_as>`."""

    by: Literal["token"]
    token: Picks
    send_as: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    size: _Max | None = None
    max: _Max | None = None


Paging = Annotated[
    PagePaging | OffsetPaging | LinkPaging | FormPaging | TokenPaging, Field(discriminator="by")
]


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
        raise fault("verdict", "must be a map of one verdict to its condition")


class Embedded(Model):
    """Where JSON is hidden in a page: in an element, between two literal texts, or both."""

    css: Text | None = None
    after: Text | None = None
    before: Text | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.css is None and self.after is None:
            raise fault("embedded", 'needs "css" or "after"')
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
