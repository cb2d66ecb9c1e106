"""Embedded players and posts as the address of what they show."""

from __future__ import annotations

import re

__all__ = ["address"]

_FORMS = (
    (
        re.compile(r"https?://(?:www\.)?youtube(?:-nocookie)?\.com/embed/([\w-]{6,})"),
        "https://www.youtube.com/watch?v={}",
    ),
    (re.compile(r"https?://player\.vimeo\.com/video/(\d+)"), "https://vimeo.com/{}"),
    (
        re.compile(r"https?://platform\.twitter\.com/embed/[^?]*\?(?:.*&)?id=(\d+)"),
        "https://x.com/i/status/{}",
    ),
    (re.compile(r"(https?://(?:x|twitter)\.com/\w+/status/\d+)"), "{}"),
    (
        re.compile(r"https?://(?:www\.)?dailymotion\.com/embed/video/(\w+)"),
        "https://www.dailymotion.com/video/{}",
    ),
)


def address(source: str) -> str:
    """Return the page that an embedded frame shows, or an empty text for any other frame."""
    for pattern, form in _FORMS:
        match = pattern.match(source)
        if match:
            return form.format(match[1])
    return ""
