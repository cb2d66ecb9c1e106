"""Telling a page that blocks programs from the page that was asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.types import HttpResponse

__all__ = ["challenge"]

_HEADERS: tuple[tuple[str, str, str], ...] = (
    ("cf-mitigated", "challenge", "Cloudflare asks for a check of the browser"),
    ("x-datadome", "protected", "DataDome asks for a check of the browser"),
    ("x-yandex-captcha", "captcha", "Yandex asks for a captcha"),
    ("x-amzn-waf-action", "challenge", "AWS WAF asks for a check of the browser"),
    ("x-amzn-waf-action", "captcha", "AWS WAF asks for a captcha"),
)
#: Marks of challenge pages; they count on short pages alone, since articles may speak of them.
_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<title>\s*just a moment", re.I), "Cloudflare asks for a check of the browser"),
    (re.compile(r"/cdn-cgi/challenge-platform/", re.I), "Cloudflare asks for a check"),
    (re.compile(r"geo\.captcha-delivery\.com", re.I), "DataDome asks for a captcha"),
    (re.compile(r"<title>\s*attention required!\s*\| cloudflare", re.I), "Cloudflare blocks us"),
    (re.compile(r"\bpx-captcha\b|_pxCaptcha", re.I), "HUMAN asks for a check"),
    (re.compile(r"<title>\s*(?:access denied|request blocked)", re.I), "the site denies access"),
    (re.compile(r"_Incapsula_Resource", re.I), "Imperva asks for a check of the browser"),
    (re.compile(r"(?:h-captcha|g-recaptcha|cf-turnstile)\b[^>]*data-sitekey", re.I), "a captcha"),
)
_SHORT = 400
_LOOK = 60_000


def challenge(response: HttpResponse, content_length: int) -> str:
    """Say why an answer is a block or a check instead of a page, or nothing where it is a page.

    `content_length` is the length in characters of the content that was read from it.
    """
    for name, word, reason in _HEADERS:
        value = response.header(name)
        if value is not None and word in value.lower() and content_length < _SHORT:
            return reason
    if content_length >= _SHORT:
        return ""
    head = response.body[:_LOOK].decode("utf-8", "replace")
    return next((reason for pattern, reason in _MARKS if pattern.search(head)), "")
