"""What reading a page leaves behind in memory."""

from __future__ import annotations

import gc

from framework.reading import read

PAGE = (
    "<html><title>A town</title><body><main><h1>A town</h1>"
    + "<ul><li>One <b>thing</b></li></ul><p>Some words, and more of them.</p>" * 20
    + "</main></body></html>"
).encode()


def test_no_cycle_keeps_the_tree_until_the_collector_comes() -> None:
    read(PAGE, "https://town.test/")
    gc.collect()
    gc.disable()
    try:
        read(PAGE, "https://town.test/")
        assert gc.collect() == 0
    finally:
        gc.enable()
