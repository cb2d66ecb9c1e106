"""The closed table of filters: what `do` may apply to a value taken from a response.

Every filter is pure and total: it never raises, and yields None where it does not apply. Regular
expressions are RE2's, so that none of them takes more than linear time.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from framework.spec.dates import parse_duration, parse_size
from framework.spec.filter_steps import (
    Clock,
    Step,
    after,
    base64_step,
    before,
    date_step,
    epoch_step,
    html_text,
    int_step,
    jmes_step,
    join_step,
    map_step,
    match_step,
    on_text,
    parse_json_step,
    query_param,
    replace_step,
    split_step,
    sub_step,
    truncate_step,
    url_decode,
    with_mark,
    with_text,
)
from framework.spec.patterns import check_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "FILTERS",
    "Clock",
    "FilterKind",
    "Step",
    "check_regex",
    "compile_filter",
]


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


def compile_filter(name: str, argument: object = None) -> Step:
    """Return the filter of that name with its argument; raises ValueError with a sentence."""
    kind = FILTERS.get(name)
    if kind is None:
        raise ValueError(f'unknown filter "{name}"')
    return kind.make(argument)


_K = FilterKind

#: Every filter by its name, in the order of the documentation.
FILTERS: Mapping[str, FilterKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _K("strip", "none", "Cuts white space off both ends.", "strip", on_text(str.strip)),
            _K("lower", "none", "Writes in lower case.", "lower", on_text(str.lower)),
            _K(
                "replace",
                "[old, new]",
                "Replaces every occurrence of a literal text.",
                'replace: ["_", " "]',
                replace_step,
            ),
            _K(
                "match",
                "RE2",
                "Keeps group 1 of the first match, or the match where there is no group.",
                "match: 'id=(\\d+)'",
                match_step,
            ),
            _K(
                "sub",
                "[RE2, new]",
                "Replaces every match; \\1 to \\9 name groups.",
                "sub: ['\\s+$', \"\"]",
                sub_step,
            ),
            _K(
                "before",
                "text",
                "Keeps what stands before the first occurrence.",
                'before: "?"',
                with_mark(before),
            ),
            _K(
                "after",
                "text",
                "Keeps what follows the first occurrence.",
                "after: a1",
                with_mark(after),
            ),
            _K(
                "split",
                "sep or [sep, n]",
                "Splits; keeps part n (from 0, negative from the end), or all as a list.",
                'split: [" · ", 0]',
                split_step,
            ),
            _K(
                "join",
                "text",
                "Joins all matches into one text.",
                'join: ", "',
                join_step,
                joins=True,
            ),
            _K(
                "prefix",
                "text",
                "Puts a text in front.",
                'prefix: "https://doi.org/"',
                with_text(lambda start: start.__add__),
            ),
            _K(
                "truncate",
                "n",
                "Cuts at a word to at most n characters, the ellipsis included.",
                "truncate: 300",
                truncate_step,
            ),
            _K(
                "map",
                "{old: new}",
                "Looks the text up; one that is not listed yields nothing.",
                "map: {y: true}",
                map_step,
            ),
            _K(
                "html_text",
                "none",
                "Drops tags and decodes entities.",
                "html_text",
                on_text(html_text),
            ),
            _K(
                "query_param",
                "name",
                "Keeps the decoded value of a parameter of an address.",
                "query_param: uddg",
                with_mark(query_param),
            ),
            _K("url_decode", "none", "Decodes %xx.", "url_decode", on_text(url_decode)),
            _K(
                "base64",
                "std or url",
                "Decodes base64 of UTF-8 text; padding may be missing.",
                "base64: url",
                base64_step,
            ),
            _K(
                "parse_json",
                "none or JMESPath",
                "Parses JSON text, and takes from it what the expression names.",
                "parse_json: a.b",
                parse_json_step,
            ),
            _K(
                "jmes", "JMESPath", "Takes a part of parsed JSON.", "jmes: items[0].name", jmes_step
            ),
            _K(
                "int",
                "none",
                "Reads the first number, with separators and K, M or B, as a whole one.",
                "int",
                int_step,
            ),
            _K("bytes", "none", "Reads a size such as 1.2 GiB.", "bytes", on_text(parse_size)),
            _K(
                "duration",
                "none",
                "Reads seconds from 3:25, PT3M25S or 3 min.",
                "duration",
                on_text(parse_duration),
            ),
            _K(
                "epoch",
                "s or ms",
                "Reads seconds or milliseconds since 1970 as a date-time.",
                "epoch: s",
                epoch_step,
            ),
            _K(
                "date",
                "{formats, locale, zone, relative}",
                "Reads a date as RFC 3339.",
                "date: {formats: [iso]}",
                date_step,
            ),
        )
    }
)
