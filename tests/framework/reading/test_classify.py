"""Which pages need a browser, and which only look as if."""

from __future__ import annotations

import pytest

from framework.reading import read
from framework.reading.classify import is_spinner

URL = "https://app.test/"
TEXT = "<p>" + "Text that the server has rendered already, sentence by sentence. " * 12 + "</p>"
BUNDLE = '<script src="/static/js/main.4f2a.js"></script>'

SHELLS = {
    "react": f'<div id="root"></div>{BUNDLE}',
    "next": f'<div id="__next"><div class="spin"></div></div>{BUNDLE}',
    "angular": f"<app-root></app-root>{BUNDLE}",
    "plea": f"<noscript>You need to enable JavaScript to run this app.</noscript>{BUNDLE}",
    "german plea": f"<noscript>Bitte aktivieren Sie JavaScript.</noscript>{BUNDLE}",
    "module": '<p>Loading…</p><script type="module" src="/x.js"></script>',
}
SERVED = {
    "rendered by the server": f'<div id="root">{TEXT}</div>{BUNDLE}',
    "a plea beside text": f"<noscript>Please enable JavaScript.</noscript>{TEXT}{BUNDLE}",
    "short and plain": "<p>It works.</p>",
    "an article about it": f"<article><h1>Why enable JavaScript</h1>{TEXT}</article>{BUNDLE}",
}


@pytest.mark.parametrize("body", SHELLS.values(), ids=SHELLS.keys())
def test_a_shell_needs_a_browser(body: str) -> None:
    assert read(f"<html><body>{body}</body></html>".encode(), URL).needs_render


@pytest.mark.parametrize("body", SERVED.values(), ids=SERVED.keys())
def test_a_served_page_does_not(body: str) -> None:
    assert read(f"<html><body>{body}</body></html>".encode(), URL).needs_render is None


def test_spinners_are_known_by_their_text() -> None:
    assert is_spinner("Loading …")
    assert is_spinner("加载中")
    assert not is_spinner("Loading docks of the harbour are closed.")
