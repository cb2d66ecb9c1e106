"""The closed table of filters: what `do` may apply to a value taken from a response.

Every filter is pure and total: it never raises, and yields None where it does not apply. Regular
expressions are RE2's, so that none of them takes more than linear time.
"""

from __future__ import annotations

import binascii
import html
import json
import math
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, unquote_plus
from zoneinfo import ZoneInfoNotFoundError

import jmespath
import re2
from jmespath.exceptions import JMESPathError

from framework.spec.dates import (
    DateRule,
    parse_date,
    parse_duration,
    parse_epoch,
    parse_number,
    parse_size,
)

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "FILTERS",
    "Clock",
    "FilterKind",
    "Step",
    "check_jmes",
    "check_regex",
    "compile_filter",
    "encodable",
    "text_of",
]

#: The longest text that a filter looks at, in characters; what is longer is cut first.
MAX_TEXT = 5 * 1024 * 1024
#: Parts of a split, a join, a query string.
_MAX_PARTS = 1_000

_BREAKS = re.compile(
    r"<(?:br|/?p|/?div|/?li|/?h[1-6]|/?tr|/?td|/?jats:p|/?jats:title)\b[^<>]*>", re.IGNORECASE
)
_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"</?[a-zA-Z][^<>]*>|<!--[^<>]*-->")


class Clock(Protocol):
    """What knows when a response was made."""

    @property
    def now(self) -> datetime:
        """An aware moment that relative dates count back from."""
        ...  # pragma: no cover


#: One compiled filter.
Step = Callable[[object, Clock], object]


@dataclass(frozen=True, slots=True)
class FilterKind:
    """A filter of the table: its argument in words, its effect in a sentence, an example.

    `make` checks an argument and returns the compiled filter; it raises ValueError with a
    sentence for the author of the file.
    """

    name: str
    argument: str
    summary: str
    example: str
    make: Callable[[object], Step]
    joins: bool = False
    """Takes the whole list of matches instead of each of them."""

    def validate(self, argument: object) -> None:
        """Raise ValueError with a sentence where the argument is not of the filter's kind."""
        self.make(argument)


def text_of(value: object) -> str | None:
    """Return the text of a value: numbers in digits, truth as `true`; None for structures."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return _digits(value) if isinstance(value, int) else None


def _digits(value: int) -> str | None:
    return str(value) if abs(value) < 10**30 else None


def encodable(text: str) -> str:
    """Return text that RE2 can take: lone surrogates, which UTF-8 has not, replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def check_regex(pattern: object) -> re2._Regexp:
    """Compile an RE2 pattern; raises ValueError with RE2's reason and a hint."""
    if not isinstance(pattern, str) or not pattern:
        raise ValueError("must be a regular expression")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(
            f"is not a valid RE2 expression: {reason} (RE2 has no look-around, no back-references)"
        ) from error


def compile_filter(name: str, argument: object = None) -> Step:
    """Return the filter of that name with its argument; raises ValueError with a sentence."""
    kind = FILTERS.get(name)
    if kind is None:
        raise ValueError(f'unknown filter "{name}"')
    return kind.make(argument)


# -- makers: one per shape of argument ---------------------------------------------------------


def _plain(run: Callable[[str], object]) -> Callable[[object], Step]:
    """A filter on text without an argument."""

    def make(argument: object) -> Step:
        if argument is not None:
            raise ValueError("takes no argument")
        return _on_text(run)

    return make


def _on_text(run: Callable[[str], object]) -> Step:
    def step(value: object, _clock: Clock) -> object:
        text = text_of(value)
        return None if text is None else run(text[:MAX_TEXT])

    return step


def _worded(build: Callable[[str], Callable[[str], object]]) -> Callable[[object], Step]:
    """A filter on text whose argument is a text."""

    def make(argument: object) -> Step:
        if not isinstance(argument, str):
            raise ValueError("needs a text")
        return _on_text(build(argument))

    return make


def _pair(argument: object, what: str) -> tuple[str, str]:
    if (
        isinstance(argument, list | tuple)
        and len(argument) == 2
        and all(isinstance(item, str) for item in argument)
        and argument[0]
    ):
        return argument[0], argument[1]
    raise ValueError(f"needs a list of two texts: {what}")


def _choice(argument: object, choices: tuple[str, ...]) -> str:
    if argument not in choices:
        raise ValueError(f"needs one of {', '.join(choices)}")
    return str(argument)


def _replace(argument: object) -> Step:
    old, new = _pair(argument, "[old, new]")
    return _on_text(lambda text: text.replace(old, new))


def _match(argument: object) -> Step:
    pattern = check_regex(argument)
    search, group = pattern.search, min(1, pattern.groups)

    def run(text: str) -> object:
        found = search(encodable(text))
        return None if found is None else found.group(group)

    return _on_text(run)


def _sub(argument: object) -> Step:
    if not isinstance(argument, list | tuple) or len(argument) != 2:
        raise ValueError("needs a list of two texts: [expression, replacement]")
    pattern = check_regex(argument[0])
    new = argument[1]
    if not isinstance(new, str):
        raise ValueError("needs a list of two texts: [expression, replacement]")
    try:
        pattern.sub(new, "")
        _check_groups(new, pattern.groups)
    except re2.error as error:
        raise ValueError(f"has a replacement that does not fit: {error}") from error
    return _on_text(lambda text: pattern.sub(new, encodable(text)))


def _check_groups(replacement: str, groups: int) -> None:
    for number in re.findall(r"\\(\d)", replacement):
        if int(number) > groups:
            raise ValueError(f"replacement names group {number}, the expression has {groups}")


def _before(mark: str) -> Callable[[str], object]:
    def run(text: str) -> object:
        head, found, _ = text.partition(mark)
        return head if found else None

    return run


def _after(mark: str) -> Callable[[str], object]:
    def run(text: str) -> object:
        _, found, tail = text.partition(mark)
        return tail if found else None

    return run


def _marked(build: Callable[[str], Callable[[str], object]]) -> Callable[[object], Step]:
    def make(argument: object) -> Step:
        if not isinstance(argument, str) or not argument:
            raise ValueError("needs a text that is not empty")
        return _on_text(build(argument))

    return make


def _split(argument: object) -> Step:
    if isinstance(argument, str) and argument:
        return _on_text(lambda text: text.split(argument, _MAX_PARTS))
    match argument:
        case [str(sep), int(index)] if sep and not isinstance(index, bool):
            return _on_text(lambda text: _part(text.split(sep), index))
    raise ValueError("needs a separator, or a list of a separator and a position: [sep, n]")


def _part(parts: list[str], index: int) -> object:
    return parts[index] if -len(parts) <= index < len(parts) else None


def _join(argument: object) -> Step:
    if not isinstance(argument, str):
        raise ValueError("needs a text")

    def step(value: object, _clock: Clock) -> object:
        items = value if isinstance(value, list | tuple) else [value]
        texts = [text for text in map(text_of, items[:_MAX_PARTS]) if text is not None]
        return argument.join(texts) if texts else None

    return step


def _truncate(argument: object) -> Step:
    if not isinstance(argument, int) or isinstance(argument, bool) or argument < 1:
        raise ValueError("needs a number of characters")
    return _on_text(lambda text: _cut(text, argument))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    space = head.rfind(" ", limit // 2)
    return f"{head[:space] if space > 0 else head}…"


def _map(argument: object) -> Step:
    if not isinstance(argument, Mapping) or not argument:
        raise ValueError("needs a map of old values to new ones")
    table = {str(old): new for old, new in argument.items()}
    if any(text_of(new) is None for new in table.values()):
        raise ValueError("needs a map whose values are texts or numbers")
    return _on_text(table.get)


def _html_text(text: str) -> object:
    if "<" in text:
        text = _HIDDEN.sub("", text) if "</s" in text or "<s" in text else text
        text = _TAGS.sub("", _BREAKS.sub(" ", text))
    if "&" in text:
        text = html.unescape(text)
    return " ".join(text.split()) or None


def _query_param(name: str) -> Callable[[str], object]:
    def run(text: str) -> object:
        query = text.partition("#")[0].partition("?")[2]
        for part in query.split("&", _MAX_PARTS):
            key, _, value = part.partition("=")
            if key == name or ("%" in key and unquote_plus(key) == name):
                return unquote_plus(value) or None
        return None

    return run


def _url_decode(text: str) -> object:
    return unquote(text, errors="replace")


def _base64(argument: object) -> Step:
    decode = {"std": b64decode, "url": urlsafe_b64decode}[_choice(argument, ("std", "url"))]

    def run(text: str) -> object:
        body = "".join(text.split()).rstrip("=")
        try:
            raw = decode(f"{body}{'=' * (-len(body) % 4)}".encode("ascii"))
            return raw.decode() or None
        except (binascii.Error, ValueError):
            return None

    return _on_text(run)


def _parse_json(argument: object) -> Step:
    if argument is None:
        return _on_text(_json)
    search = check_jmes(argument).search

    def run(text: str) -> object:
        value = _json(text)
        try:
            return None if value is None else search(value)
        except (JMESPathError, RecursionError, TypeError, ValueError):
            return None

    return _on_text(run)


def _json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def check_jmes(expression: object) -> jmespath.parser.ParsedResult:
    """Compile a JMESPath expression; raises ValueError with the reason."""
    if not isinstance(expression, str) or not expression.strip():
        raise ValueError("must be a JMESPath expression")
    try:
        return jmespath.compile(expression)
    except (JMESPathError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise ValueError(f"is not a valid JMESPath expression: {reason}") from error


def _jmes(argument: object) -> Step:
    search = check_jmes(argument).search

    def step(value: object, _clock: Clock) -> object:
        try:
            found: object = search(value)
        except (JMESPathError, RecursionError, TypeError, ValueError, AttributeError):
            return None
        return found

    return step


def _int(argument: object) -> Step:
    if argument is not None:
        raise ValueError("takes no argument")

    def step(value: object, _clock: Clock) -> object:
        if isinstance(value, bool):
            return None
        if isinstance(value, str):
            value = parse_number(value)
        return int(value) if isinstance(value, int | float) and math.isfinite(value) else None

    return step


def _epoch(argument: object) -> Step:
    unit = _choice(argument, ("s", "ms"))

    def run(text: str) -> object:
        try:
            return parse_epoch(float(text), unit)
        except (ValueError, OverflowError):
            return None

    return _on_text(run)


_DATE_KEYS = frozenset({"formats", "locale", "zone", "relative"})


def _date(argument: object) -> Step:
    if not isinstance(argument, Mapping) or not _DATE_KEYS.issuperset(argument):
        raise ValueError(f"needs a map with {', '.join(sorted(_DATE_KEYS))}")
    rule = _date_rule(argument)

    def step(value: object, clock: Clock) -> object:
        text = text_of(value)
        return None if text is None else parse_date(text, rule, clock.now)

    return step


def _date_rule(argument: Mapping[str, object]) -> DateRule:
    formats = argument.get("formats", ["iso"])
    locale, zone = argument.get("locale"), argument.get("zone")
    relative = argument.get("relative", False)
    if not isinstance(formats, list | tuple) or not all(isinstance(item, str) for item in formats):
        raise ValueError("formats must be a list of iso, rfc2822 or strptime formats")
    if not isinstance(relative, bool):
        raise ValueError("relative must be true or false")
    if not isinstance(locale, str | None) or not isinstance(zone, str | None):
        raise ValueError("locale and zone must be texts")
    if locale is not None and not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", locale):
        raise ValueError("locale must be a language tag such as de")
    try:
        return DateRule(formats, locale, zone, relative=relative)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f'zone is not an IANA name: "{zone}"') from error


_K = FilterKind

#: Every filter by its name, in the order of the documentation.
FILTERS: Mapping[str, FilterKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _K("strip", "none", "Cuts white space off both ends.", "strip", _plain(str.strip)),
            _K("lower", "none", "Writes in lower case.", "lower", _plain(str.lower)),
            _K(
                "replace",
                "[old, new]",
                "Replaces every occurrence of a literal text.",
                'replace: ["_", " "]',
                _replace,
            ),
            _K(
                "match",
                "RE2",
                "Keeps group 1 of the first match, or the match where there is no group.",
                "match: 'id=(\\d+)'",
                _match,
            ),
            _K(
                "sub",
                "[RE2, new]",
                "Replaces every match; \\1 to \\9 name groups.",
                "sub: ['\\s+$', \"\"]",
                _sub,
            ),
            _K(
                "before",
                "text",
                "Keeps what stands before the first occurrence.",
                'before: "?"',
                _marked(_before),
            ),
            _K(
                "after",
                "text",
                "Keeps what follows the first occurrence.",
                "after: a1",
                _marked(_after),
            ),
            _K(
                "split",
                "sep or [sep, n]",
                "Splits; keeps part n (from 0, negative from the end), or all as a list.",
                'split: [" · ", 0]',
                _split,
            ),
            _K("join", "text", "Joins all matches into one text.", 'join: ", "', _join, joins=True),
            _K(
                "prefix",
                "text",
                "Puts a text in front.",
                'prefix: "https://doi.org/"',
                _worded(lambda start: start.__add__),
            ),
            _K(
                "truncate",
                "n",
                "Cuts at a word to at most n characters, the ellipsis included.",
                "truncate: 300",
                _truncate,
            ),
            _K(
                "map",
                "{old: new}",
                "Looks the text up; one that is not listed yields nothing.",
                "map: {y: true}",
                _map,
            ),
            _K(
                "html_text",
                "none",
                "Drops tags and decodes entities.",
                "html_text",
                _plain(_html_text),
            ),
            _K(
                "query_param",
                "name",
                "Keeps the decoded value of a parameter of an address.",
                "query_param: uddg",
                _marked(_query_param),
            ),
            _K("url_decode", "none", "Decodes %xx.", "url_decode", _plain(_url_decode)),
            _K(
                "base64",
                "std or url",
                "Decodes base64 of UTF-8 text; padding may be missing.",
                "base64: url",
                _base64,
            ),
            _K(
                "parse_json",
                "none or JMESPath",
                "Parses JSON text, and takes from it what the expression names.",
                "parse_json: a.b",
                _parse_json,
            ),
            _K("jmes", "JMESPath", "Takes a part of parsed JSON.", "jmes: items[0].name", _jmes),
            _K(
                "int",
                "none",
                "Reads the first number, with separators and K, M or B, as a whole one.",
                "int",
                _int,
            ),
            _K("bytes", "none", "Reads a size such as 1.2 GiB.", "bytes", _plain(parse_size)),
            _K(
                "duration",
                "none",
                "Reads seconds from 3:25, PT3M25S or 3 min.",
                "duration",
                _plain(parse_duration),
            ),
            _K(
                "epoch",
                "s or ms",
                "Reads seconds or milliseconds since 1970 as a date-time.",
                "epoch: s",
                _epoch,
            ),
            _K(
                "date",
                "{formats, locale, zone, relative}",
                "Reads a date as RFC 3339.",
                "date: {formats: [iso]}",
                _date,
            ),
        )
    }
)
