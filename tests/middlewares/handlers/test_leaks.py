"""No way around the proxy, names included: every mode in a namespace where leaks are trapped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from framework.types import FetchMode

if TYPE_CHECKING:
    from pathlib import Path

_NAMESPACE = ("unshare", "--map-root-user", "--net", "--mount")
GOOD = ("good socks", "local socks", "good http")
BAD = ("wrong password", "dead")


def namespaces() -> str:
    """Why a namespace of our own cannot be had, or nothing."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "unshare and ip are needed to trap leaks"
    tried = subprocess.run([*_NAMESPACE, "true"], capture_output=True, text=True, check=False)
    return f"no namespace of our own: {tried.stderr.strip()}" if tried.returncode else ""


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(FetchMode))
def test_nothing_goes_around_the_proxy(root: Path, mode: FetchMode) -> None:
    if reason := namespaces():
        pytest.skip(reason)
    if mode is FetchMode.RENDER and shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed")
    script = root / "tests" / "support" / "trap.py"
    shown = subprocess.run(
        [*_NAMESPACE, sys.executable, str(script), mode],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    found = json.loads(shown.stdout.splitlines()[-1])
    for way in (*GOOD, *BAD):
        code = "ok" if way in GOOD else "proxy_unavailable"
        assert found[f"{mode} {way}"] == {"code": code, "connections": [], "names": []}
    # The trap itself works: without a proxy it sees both the question and the connection.
    direct = found[f"{mode} direct"]
    assert direct["names"]
    assert "93.184.216.34:443" in direct["connections"]
