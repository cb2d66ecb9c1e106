"""When a server wants to be asked again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from framework.types import HttpResponse
from framework.waits import retry_after, seconds_in

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        (str(int(NOW.timestamp()) + 90), 90.0),
        (str((int(NOW.timestamp()) + 90) * 1000), 90.0),
        (str(int(NOW.timestamp()) - 90), 0.0),
        ("1m30s", 90.0),
        ("250ms", 0.25),
        ("Sun, 29 Nov 2026 12:02:00 GMT", 120.0),
        ("Sun, 29 Nov 2026 12:02:00", 120.0),
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_one_wait_in_every_notation(text: str, seconds: float | None) -> None:
    assert seconds_in(text, NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "7", "X-RateLimit-Reset": "60"}, 7.0),
        ({"Retry-After": "later", "X-RateLimit-Reset": "60"}, 60.0),
        ({"X-RateLimit-Reset": "1, 5000", "X-RateLimit-Remaining": "0, 1999"}, 1.0),
        ({"X-RateLimit-Reset": "1, 5000", "X-RateLimit-Remaining": "0, 0"}, 5000.0),
        ({"X-RateLimit-Reset": "1, 5000"}, 1.0),
        ({"X-RateLimit-Reset": "3000", "X-RateLimit-Remaining": "12"}, None),
        ({"RateLimit-Reset": "5", "RateLimit-Remaining": "0"}, 5.0),
    ],
)
def test_the_first_telling_header_counts(headers: dict[str, str], seconds: float | None) -> None:
    response = HttpResponse(url="https://a.test/", status=429, headers=tuple(headers.items()))
    assert retry_after(response, NOW) == seconds


def test_an_engine_may_name_its_own_headers() -> None:
    response = HttpResponse(url="https://a.test/", headers=(("Retry-After", "7"), ("X-Wait", "9")))
    assert retry_after(response, NOW, ["X-Wait"]) == 9.0
    assert retry_after(response, NOW, []) == 7.0
