"""What filters do: makers that check an argument and return the compiled step. All are total."""

from __future__ import annotations

import binascii
import html
import json
import math
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, unquote_plus
from zoneinfo import ZoneInfoNotFoundError

import re2
from jmespath.exceptions import JMESPathError

from framework.spec.dates import DateRule, parse_date, parse_epoch, parse_number
from framework.spec.linear import simple
from framework.spec.patterns import check_jmes, check_regex, compile_search, encodable, text_of

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "Clock",
    "Step",
    "after",
    "base64_step",
    "before",
    "date_step",
    "epoch_step",
    "html_text",
    "int_step",
    "jmes_step",
    "join_step",
    "map_step",
    "match_step",
    "on_text",
    "parse_json_step",
    "query_param",
    "replace_step",
    "split_step",
    "sub_step",
    "truncate_step",
    "url_decode",
    "with_mark",
    "with_text",
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


def on_text(run: Callable[[str], object]) -> Callable[[object], Step]:
    """Make a filter on text without an argument."""

    def make(argument: object) -> Step:
        if argument is not None:
            raise ValueError("takes no argument")
        return _on_text(run)

    return make


def _on_text(run: Callable[[str], object]) -> Step:
    def step(value: object, _clock: Clock) -> object:
        text = value if isinstance(value, str) else text_of(value)
        return None if text is None else run(text[:MAX_TEXT])

    return step


def with_text(build: Callable[[str], Callable[[str], object]]) -> Callable[[object], Step]:
    """Make a filter on text whose argument is a text."""

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


def replace_step(argument: object) -> Step:
    """Replace every occurrence of a literal text: [old, new]."""
    old, new = _pair(argument, "[old, new]")
    return _on_text(lambda text: text.replace(old, new))


def match_step(argument: object) -> Step:
    """Keep group 1 of an RE2 expression's first match, or the match without a group."""
    search, groups = compile_search(argument)
    group = min(1, groups)

    def run(text: str) -> object:
        found = search(text)
        return None if found is None else found.group(group)

    return _on_text(run)


def sub_step(argument: object) -> Step:
    """Replace every match of an RE2 expression: [expression, replacement]."""
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
    quick = simple(argument[0]) if "\\" not in new else None
    if quick is not None:
        return _on_text(lambda text: quick.sub(new, text))
    return _on_text(lambda text: pattern.sub(new, encodable(text)))


def _check_groups(replacement: str, groups: int) -> None:
    for number in re.findall(r"\\(\d)", replacement):
        if int(number) > groups:
            raise ValueError(f"replacement names group {number}, the expression has {groups}")


def before(mark: str) -> Callable[[str], object]:
    """Keep what stands before a mark, nothing where it is absent."""

    def run(text: str) -> object:
        head, found, _ = text.partition(mark)
        return head if found else None

    return run


def after(mark: str) -> Callable[[str], object]:
    """Keep what follows a mark, nothing where it is absent."""

    def run(text: str) -> object:
        _, found, tail = text.partition(mark)
        return tail if found else None

    return run


def with_mark(build: Callable[[str], Callable[[str], object]]) -> Callable[[object], Step]:
    """Make a filter on text whose argument is a text that is not empty."""

    def make(argument: object) -> Step:
        if not isinstance(argument, str) or not argument:
            raise ValueError("needs a text that is not empty")
        return _on_text(build(argument))

    return make


def split_step(argument: object) -> Step:
    """Split at a separator: a list, or part n of it."""
    if isinstance(argument, str) and argument:
        return _on_text(lambda text: text.split(argument, _MAX_PARTS))
    match argument:
        case [str(sep), int(index)] if sep and not isinstance(index, bool):
            return _on_text(lambda text: _part(text.split(sep), index))
    raise ValueError("needs a separator, or a list of a separator and a position: [sep, n]")


def _part(parts: list[str], index: int) -> object:
    return parts[index] if -len(parts) <= index < len(parts) else None


def join_step(argument: object) -> Step:
    """Join a list into one text."""
    if not isinstance(argument, str):
        raise ValueError("needs a text")

    def step(value: object, _clock: Clock) -> object:
        items = value if isinstance(value, list | tuple) else [value]
        texts = [text for text in map(text_of, items[:_MAX_PARTS]) if text is not None]
        return argument.join(texts) if texts else None

    return step


def truncate_step(argument: object) -> Step:
    """Cut at a word to at most n characters."""
    if not isinstance(argument, int) or isinstance(argument, bool) or argument < 1:
        raise ValueError("needs a number of characters")
    return _on_text(lambda text: _cut(text, argument))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    space = head.rfind(" ", limit // 2)
    return f"{head[:space] if space > 0 else head}…"


def map_step(argument: object) -> Step:
    """Look a text up in a map."""
    if not isinstance(argument, Mapping) or not argument:
        raise ValueError("needs a map of old values to new ones")
    table = {str(old): new for old, new in argument.items()}
    if any(text_of(new) is None for new in table.values()):
        raise ValueError("needs a map whose values are texts or numbers")
    return _on_text(table.get)


def html_text(text: str) -> object:
    """Drop tags, scripts and comments, decode entities, keep blocks apart."""
    if "<" in text:
        text = _HIDDEN.sub("", text) if "</s" in text or "<s" in text else text
        text = _TAGS.sub("", _BREAKS.sub(" ", text))
    if "&" in text:
        text = html.unescape(text)
    return " ".join(text.split()) or None


def query_param(name: str) -> Callable[[str], object]:
    """Keep the decoded value of one parameter of an address."""

    start = f"&{name}="

    def run(text: str) -> object:
        query = "&" + text.partition("#")[0].partition("?")[2]
        _, found, after = query.partition(start)
        if not found:
            return _by_encoded_name(query, name)
        return unquote_plus(after.partition("&")[0]) or None

    return run


def _by_encoded_name(query: str, name: str) -> object:
    for part in query.split("&", _MAX_PARTS) if "%" in query or "+" in query else ():
        key, _, value = part.partition("=")
        if unquote_plus(key) == name:
            return unquote_plus(value) or None
    return None


def url_decode(text: str) -> object:
    """Decode %xx."""
    return unquote(text, errors="replace")


def base64_step(argument: object) -> Step:
    """Decode base64 (`std` or `url`) of UTF-8 text."""
    decode = {"std": b64decode, "url": urlsafe_b64decode}[_choice(argument, ("std", "url"))]

    def run(text: str) -> object:
        body = "".join(text.split()).rstrip("=")
        try:
            raw = decode(f"{body}{'=' * (-len(body) % 4)}".encode("ascii"))
            return raw.decode() or None
        except (binascii.Error, ValueError):
            return None

    return _on_text(run)


def parse_json_step(argument: object) -> Step:
    """Parse JSON text and take from it what a JMESPath expression names, or all."""
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


def jmes_step(argument: object) -> Step:
    """Take a part of parsed JSON."""
    search = check_jmes(argument).search

    def step(value: object, _clock: Clock) -> object:
        try:
            found: object = search(value)
        except (JMESPathError, RecursionError, TypeError, ValueError, AttributeError):
            return None
        return found

    return step


def int_step(argument: object) -> Step:
    """Read the first number as a whole one."""
    if argument is not None:
        raise ValueError("takes no argument")

    def step(value: object, _clock: Clock) -> object:
        if isinstance(value, bool):
            return None
        if isinstance(value, str):
            value = parse_number(value)
        return int(value) if isinstance(value, int | float) and math.isfinite(value) else None

    return step


def epoch_step(argument: object) -> Step:
    """Read seconds (`s`) or milliseconds (`ms`) since 1970 as a date-time."""
    unit = _choice(argument, ("s", "ms"))

    def run(text: str) -> object:
        try:
            return parse_epoch(float(text), unit)
        except (ValueError, OverflowError):
            return None

    return _on_text(run)


_DATE_KEYS = frozenset({"formats", "locale", "zone", "relative"})


def date_step(argument: object) -> Step:
    """Read a date as RFC 3339."""
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
