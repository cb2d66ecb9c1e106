"""Headers as text."""

from __future__ import annotations

import pytest

from framework.headers import decoded


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param([], (), id="none"),
        pytest.param([(b"A", [b"1", b"2"]), (b"B", [])], (("A", "1"), ("A", "2")), id="order"),
        pytest.param([(b"X", [b"\xe9\xff"])], (("X", "\u00e9\u00ff"),), id="any-byte"),
    ],
)
def test_headers_become_pairs_of_text(
    headers: list[tuple[bytes, list[bytes]]], expected: tuple[tuple[str, str], ...]
) -> None:
    assert decoded(headers) == expected
