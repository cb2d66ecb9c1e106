"""What a condition proves: something positive, something in the content, or only an absence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import jmespath
from jmespath.exceptions import JMESPathError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from framework.spec.elements import Condition

__all__ = ["by_content", "is_positive"]

_NEGATED_CSS = re.compile(r":not\(\s*:has\(")
_NEGATED_XPATH = re.compile(r"\s*not\s*\(")


def is_positive(condition: Condition) -> bool:
    """Tell whether a condition can hold only where something is there.

    A negation, a small body and an ordinary status prove nothing: a block looks the same. An
    `all` needs one positive part, an `any` only positive parts.
    """
    if condition.all is not None:
        return any(is_positive(part) for part in condition.all)
    if condition.any is not None:
        return all(is_positive(part) for part in condition.any)
    test = _POSITIVE.get(condition.source)
    return test is None or test(condition)


def _positive_status(condition: Condition) -> bool:
    return 200 not in (condition.status or ())


def _positive_css(condition: Condition) -> bool:
    return not _NEGATED_CSS.search(condition.css or "")


def _positive_xpath(condition: Condition) -> bool:
    return not _NEGATED_XPATH.match(condition.xpath or "")


def _positive_jmes(condition: Condition) -> bool:
    try:
        parsed = jmespath.compile(condition.jmes or "").parsed
    except JMESPathError:
        return True
    return bool(parsed.get("type") != "not_expression")


def _never(_: Condition) -> bool:
    return False


_POSITIVE: Mapping[str, Callable[[Condition], bool]] = {
    "not": _never,
    "size_below": _never,
    "status": _positive_status,
    "css": _positive_css,
    "xpath": _positive_xpath,
    "jmes": _positive_jmes,
}


def by_content(condition: Condition) -> bool:
    """Tell whether a condition looks at more than the status, so that a fixture must prove it."""
    parts = condition.all or condition.any
    if parts is not None:
        return any(by_content(part) for part in parts)
    if condition.not_ is not None:
        return by_content(condition.not_)
    return condition.source != "status"
