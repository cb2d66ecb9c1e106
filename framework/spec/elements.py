"""Models of what is taken from a response: picks, filters, selectors and conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from framework.spec.base import Flag, Frozen, Model, Scalar, Text, Whole, fault, given, one_of

__all__ = [
    "CONDITIONS",
    "NATIVE",
    "SELECTORS",
    "SOURCES",
    "Condition",
    "Filter",
    "Format",
    "Pick",
    "Picks",
    "Selector",
    "native",
]

#: The language of a response's body.
Format = Literal["html", "json", "xml"]

#: The selector language that a bare string is written in, by the response's format.
NATIVE: Mapping[str, str] = {"html": "css", "json": "jmes", "xml": "xpath"}

#: The keys of a pick that say where its value comes from.
SOURCES = ("css", "xpath", "jmes", "header", "cookie", "const", "text_of", "text")

#: The keys of a selector.
SELECTORS = ("css", "xpath", "jmes")

#: The keys of a condition, as written in a file.
CONDITIONS = (
    "status",
    "url",
    "header",
    "css",
    "xpath",
    "jmes",
    "text",
    "size_below",
    "any",
    "all",
    "not",
)


class Filter(Model):
    """One step of `do`: a bare name, or a map of a name to its argument."""

    name: Text
    argument: JsonValue = None

    @model_validator(mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, Mapping) and len(value) == 1:
            name, argument = next(iter(value.items()))
            return {"name": name, "argument": argument}
        raise fault(
            "filter",
            "must be a filter's name or a map of one name to its argument",
            "such as strip, or before: '?'",
        )


class Selector(Model):
    """What matches a row: exactly one of `css`, `xpath`, `jmes`."""

    css: Text | None = None
    xpath: Text | None = None
    jmes: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _single(cls, value: object) -> object:
        one_of(value, SELECTORS, "the selector")
        return value

    @property
    def source(self) -> str:
        """The selector's language: `css`, `xpath` or `jmes`."""
        return given(self, SELECTORS)

    @property
    def expression(self) -> str:
        """The selector's text."""
        return str(getattr(self, self.source))


class Pick(Model):
    """One value taken from a response: a source, then filters.

    Exactly one source is set. A bare string of a file has become the source that is native to
    the response's format before this model sees it.
    """

    css: Text | None = None
    xpath: Text | None = None
    jmes: Text | None = None
    header: Text | None = None
    """Name of a response header."""
    cookie: Text | None = None
    """Name of a cookie that the response sets."""
    const: Scalar | None = None
    text_of: Literal["body", "url"] | None = None
    """The decoded body, or the final address."""
    text: Text | None = None
    """A template over fields read earlier in the same row: `{{ row.title }}`."""
    do: tuple[Filter, ...] = ()
    many: Flag = False
    """All matches instead of the first."""
    optional: Flag = False
    """A miss is normal and does not count as drift."""
    default: Scalar | None = None
    """The value where nothing matches."""
    remove: Text | None = None
    """CSS of elements to leave out of the text."""
    as_: Literal["html"] | None = Field(default=None, alias="as")
    """Take the element's markup instead of its text."""

    @model_validator(mode="before")
    @classmethod
    def _single(cls, value: object) -> object:
        if isinstance(value, Mapping):
            one_of(value, SOURCES, "the pick")
            return value
        raise fault("pick", "must be a selector or a map with one source", "such as {css: h3 a}")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.remove is not None and self.source != "css":
            raise fault(
                "pick", '"remove" works with "css" only', "select with css, or leave it out"
            )
        return self

    @property
    def source(self) -> str:
        """The name of the source key, one of SOURCES."""
        return given(self, SOURCES)

    @property
    def expression(self) -> str:
        """The source's text: selector, header or cookie name, constant, template."""
        value = getattr(self, self.source)
        return str(value).lower() if isinstance(value, bool) else str(value)


class Condition(Model):
    """A truth about a response: exactly one source, or `any`, `all`, `not` of conditions."""

    status: tuple[Whole, ...] | None = None
    url: Text | None = None
    """RE2, searched in the final address and in every hop."""
    header: Frozen[Text] | None = None
    """Header name to RE2; several names must all match."""
    css: Text | None = None
    xpath: Text | None = None
    jmes: Text | None = None
    text: Text | None = None
    """RE2, searched in the decoded body."""
    size_below: Whole | None = None
    """True where the body has fewer bytes."""
    any: tuple[Condition, ...] | None = None
    all: tuple[Condition, ...] | None = None
    not_: Condition | None = Field(default=None, alias="not")

    @model_validator(mode="before")
    @classmethod
    def _single(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            raise fault("condition", "must be a map with one condition", "such as {css: .captcha}")
        one_of(value, CONDITIONS, "the condition")
        status = value.get("status")
        return {**value, "status": [status]} if isinstance(status, int) else value

    @property
    def source(self) -> str:
        """The name of the condition's key as written in the file, one of CONDITIONS."""
        name = given(self, (*CONDITIONS[:-1], "not_"))
        return name.rstrip("_")


def native(value: object, language: str) -> object:
    """Spell out bare strings of a pick or a fallback list as selectors of that language."""
    if isinstance(value, str):
        return {language: value}
    if isinstance(value, list | tuple):
        return [native(item, language) for item in value]
    return value


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


#: A pick, or a fallback list of picks: the first that yields something wins.
Picks = Annotated[
    tuple[Pick, ...],
    Field(min_length=1),
    BeforeValidator(_listed, json_schema_input_type=str | Pick | Sequence[str | Pick]),
]
