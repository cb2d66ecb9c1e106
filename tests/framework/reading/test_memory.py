"""What reading a page takes of memory, and what it leaves behind."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from framework.reading import read

ROOT = Path(__file__).resolve().parents[3]
PAGE = (
    "<html><title>A town</title><body><main><h1>A town</h1>"
    + "<ul><li>One <b>thing</b></li></ul><p>Some words, and more of them.</p>" * 20
    + "</main></body></html>"
).encode()
#: Says by how many megabytes a process grows at the most while it reads a page of 8.8 MB.
GROWTH = r"""
import re
from pathlib import Path
from framework.reading import read

def peak():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024

line = b"<p>A line of a long page, <b>word</b> by word.</p>\n"
page = b"<html><body><nav><a href=/>Start</a></nav><main>" + line * 172_500
read(page[:10_000], "https://large.test/")
before = peak()
document = read(page, "https://large.test/")
assert document.markdown.count("**word**") == 172_500
print(peak() - before)
"""


def test_no_cycle_keeps_the_tree_until_the_collector_comes() -> None:
    read(PAGE, "https://town.test/")
    gc.collect()
    gc.disable()
    try:
        read(PAGE, "https://town.test/")
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told by Linux alone")
def test_a_page_of_megabytes_takes_no_more_than_its_share() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROWTH], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 300
