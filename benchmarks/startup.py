"""Start-up: the first tools/list against the smallest server of the SDK, and `--help`'s time.

Every candidate is a process of its own; candidates take turns, so that a busy machine is fair to
all. The empty programs beside ours are the floor that the libraries set.

    python benchmarks/startup.py [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import (
    ROOT,
    Figures,
    Ratio,
    Report,
    emit,
    figures_table,
    in_process,
    parser,
    progress,
    ratios_of,
    used,
)

MINIMAL = """\
from mcp.server import MCPServer
mcp = MCPServer("minimal", log_level="ERROR")
@mcp.tool()
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b
mcp.run()
"""
EMPTY = """\
import typer
app = typer.Typer()
@app.command()
def hello(name: str) -> None:
    "Say hello."
app()
"""
OURS = [sys.executable, "-c", "from server.cli import main; main()"]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CLIENT = {"name": "benchmark", "version": "0"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
SEARCH = {"name": "web_search", "arguments": {"query": "javascript tutorial"}, "_meta": ENVELOPE}
MINIMAL_SERVER, EMPTY_PROGRAM = "minimal mcp server", "empty typer program"
LISTS = {"tools/list, 2026-07-28": False, "tools/list, 2025-11-25": True}
HELP, SEARCHED, COMPILED = "--help", "first web_search", "60 engines compiled"
#: So many engines must be compiled within so many milliseconds of CPU.
ENGINES, ALLOWED_MS = 60, 250


class Client:
    """A process's pipes, one JSON line a message."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def send(self, **message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, object]:
        assert self.process.stdout is not None
        found: dict[str, object] = json.loads(self.process.stdout.readline())
        assert "result" in found, found
        return found

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def listed(command: list[str], *, handshake: bool) -> float:
    """Return the seconds from the process's start to its list of tools."""
    start = time.perf_counter()
    client = Client(command)
    if handshake:
        client.send(id=1, method="initialize", params=HELLO)
        client.answer()
        client.send(method="notifications/initialized")
        client.send(id=2, method="tools/list")
    else:
        client.send(id=2, method="tools/list", params={"_meta": ENVELOPE})
    client.answer()
    taken = time.perf_counter() - start
    client.close()
    return taken


def searched() -> float:
    """Return the seconds from the process's start to the answer of a search in recordings."""
    start = time.perf_counter()
    client = Client([*OURS, "mcp", "--replay"])
    client.send(id=1, method="tools/call", params=SEARCH)
    client.answer()
    taken = time.perf_counter() - start
    client.close()
    return taken


def helped(command: list[str]) -> float:
    """Return the seconds to the first line of a program's help."""
    start = time.perf_counter()
    with subprocess.Popen([*command, "--help"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        taken = time.perf_counter() - start
        process.stdout.read()
    return taken


def compiled() -> Figures:
    """CPU milliseconds and seconds in which a fresh process compiles 60 of the packaged files."""
    from framework.spec.catalogue import Catalogue

    start, cpu = time.perf_counter(), used()
    entries = Catalogue(ROOT / "engines.d").entries()
    cpu, seconds = used() - cpu, time.perf_counter() - start
    share = ENGINES / len(entries)
    return {"seconds": seconds * share, "cpu_ms": cpu * 1000 * share}


def once(minimal: Path, empty: Path) -> dict[str, Figures]:
    """One round: each of ours and what stands beside it, one after the other."""
    found = {}
    for name, handshake in LISTS.items():
        ours, theirs = [*OURS, "mcp", "--replay"], [sys.executable, str(minimal)]
        found[name] = {"seconds": listed(ours, handshake=handshake)}
        found[f"{MINIMAL_SERVER}, {name}"] = {"seconds": listed(theirs, handshake=handshake)}
    found[HELP] = {"seconds": helped(OURS)}
    found[EMPTY_PROGRAM] = {"seconds": helped([sys.executable, str(empty)])}
    found[SEARCHED] = {"seconds": searched()}
    found[COMPILED] = in_process(__file__)
    return found


def main() -> None:
    given = parser(__doc__).parse_args()
    if given.one is not None:
        print(json.dumps(compiled()))
        return
    with tempfile.TemporaryDirectory() as folder:
        minimal, empty = Path(folder) / "minimal.py", Path(folder) / "empty.py"
        minimal.write_text(MINIMAL, encoding="utf-8")
        empty.write_text(EMPTY, encoding="utf-8")
        rounds = [once(minimal, empty) for _ in progress(given.rounds)]
    pairs = [
        *((name, f"{MINIMAL_SERVER}, {name}", "seconds", 0.2) for name in LISTS),
        (HELP, EMPTY_PROGRAM, "seconds", 2.0),
    ]
    ratios = ratios_of(
        rounds, pairs, name=lambda left, right, _: f"{left} : {right.split(', ')[0]}"
    )
    allowed = [one[COMPILED]["cpu_ms"] / ALLOWED_MS for one in rounds]
    ratios.append(Ratio(name=f"{COMPILED} : {ALLOWED_MS} ms of CPU", values=allowed, target=1.0))
    emit(
        Report(
            title="Start-up",
            ratios=ratios,
            tables=[figures_table(rounds, "what")],
            rounds=given.rounds,
        ),
        given.json,
    )


if __name__ == "__main__":
    main()
