"""The allocator's set-up: where it applies, it takes, and a page costs no more than before."""

from __future__ import annotations

import platform
import sys

import pytest

from server.memory import keep_memory


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.libc_ver()[0] != "glibc",
    reason="mallopt is glibc's",
)
def test_glibc_accepts_both_limits() -> None:
    assert keep_memory()


def test_another_system_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    keep_memory.cache_clear()
    try:
        assert not keep_memory()
    finally:
        keep_memory.cache_clear()
