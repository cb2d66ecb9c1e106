"""Models of how an engine is asked: inputs, keys, settings, requests, session steps, paging."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, model_validator

from framework.spec.base import (
    Flag,
    Frozen,
    Model,
    Scalar,
    Span,
    Text,
    Whole,
    fault,
    one_of,
)
from framework.spec.elements import Format, Picks  # noqa: TC001  # pydantic reads them
from framework.types import SafeSearch, TimeRange, Verdict

__all__ = [
    "DECLARABLE",
    "CountInput",
    "DeclaredVerdict",
    "DomainsInput",
    "FormPaging",
    "Inputs",
    "Key",
    "LinkPaging",
    "OffsetPaging",
    "PagePaging",
    "Paging",
    "QueryInput",
    "RegionInput",
    "Request",
    "SessionStep",
    "Setting",
    "SinceInput",
    "TokenPaging",
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
        one_of(value, ("operator", "param"), "the input")
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
    """Verdicts that rest the key alone; a bare 401, 403, 429, 432 or 433 is one, if undeclared."""
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
    repeatable: Flag = False
    """A POST changes nothing on the server, so that it may be sent again after a failure."""

    @model_validator(mode="before")
    @classmethod
    def _one_body(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        bodies = [key for key in ("form", "json", "text") if key in value]
        if len(bodies) > 1:
            raise fault("body", f"has more than one body: {', '.join(bodies)}", "keep one of them")
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
