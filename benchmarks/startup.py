"""Start-up: the first tools/list against the smallest server of the SDK, and `--help`'s time.

Every candidate is a process of its own; candidates take turns, so that a busy machine is fair to
all. The empty programs beside ours are the floor that the libraries set.

    python benchmarks/startup.py [--rounds 10] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
#: What is measured: our command, the one it is compared with, the target of the ratio.
PAIRS = {
    "tools/list, 2026-07-28": ("minimal mcp server", 0.2),
    "tools/list, 2025-11-25": ("minimal mcp server", 0.2),
    "first web_search": (None, None),
    "--help": ("empty typer program", 2.0),
}


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


def measure(rounds: int, folder: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Run everything in turns; return ours and the other's seconds of each round."""
    minimal, empty = folder / "minimal.py", folder / "empty.py"
    minimal.write_text(MINIMAL, encoding="utf-8")
    empty.write_text(EMPTY, encoding="utf-8")
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in PAIRS}
    for _ in range(rounds):
        for name, handshake in (
            ("tools/list, 2026-07-28", False),
            ("tools/list, 2025-11-25", True),
        ):
            found[name][0].append(listed([*OURS, "mcp", "--replay"], handshake=handshake))
            found[name][1].append(listed([sys.executable, str(minimal)], handshake=handshake))
        found["first web_search"][0].append(searched())
        found["--help"][0].append(helped(OURS))
        found["--help"][1].append(helped([sys.executable, str(empty)]))
    return found


def table(found: dict[str, tuple[list[float], list[float]]]) -> list[str]:
    lines = [
        "| what | ours s, median (min, max) | beside it | s, median (min, max) | ratio | target |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, (other, target) in PAIRS.items():
        ours, theirs = found[name]
        ratio = f"{statistics.median(ours) / statistics.median(theirs):.2f}" if theirs else ""
        beside = f"{other} | {spread(theirs)}" if theirs else " | "
        wish = "" if target is None else f"≤ {target}"
        lines.append(f"| {name} | {spread(ours)} | {beside} | {ratio} | {wish} |")
    return lines


def spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.3f} ({min(seconds):.3f}, {max(seconds):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(table(measure(options.rounds, Path(folder))))
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
