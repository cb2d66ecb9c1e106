"""Batch crawl: many queries over the replay proxy, ended by kill -9 in the middle, then resumed.

    python benchmarks/batch.py [--queries 5000] [--engines mojeek,duckduckgo,bing]

Asserts that every query stands in the output exactly once; prints queries per second, processor
time per query (the replay proxy, which runs in the same process, included) and memory over time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--engines", default="mojeek,duckduckgo,bing")
    parser.add_argument("--concurrency", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run(Path(name), given.queries, given.engines, given.concurrency)


def run(folder: Path, count: int, engines: str, concurrency: int) -> None:
    queries = [f"query number {number}" for number in range(count)]
    (folder / "queries.txt").write_text("\n".join(queries))
    output = folder / "out.jsonl"
    command = [
        *(str(Path(sys.executable).parent / "consilience"), "batch", "queries.txt"),
        *("--engines", engines, "-o", str(output), "--replay"),
        *("--concurrency", str(concurrency)),
    ]
    began = time.perf_counter()
    first, before = follow(command, folder, output, until=count // 2)
    killed = lines(output)
    second, after = follow(command, folder, output, until=None)
    seconds = time.perf_counter() - began
    check(output, queries)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime
    print(f"{count} queries on {engines}: killed after {killed}, resumed, each exactly once")
    print(f"{count / seconds:.1f} queries/s, {1000 * processor / count:.2f} ms processor per query")
    for name, memory in (("before the kill", before), ("after it", after)):
        print(f"memory {name}: {' '.join(f'{value:.0f}' for value in memory)} MB")
    print(f"exit codes: {first} (killed), {second}")


def follow(
    command: list[str], folder: Path, output: Path, until: int | None
) -> tuple[int, list[float]]:
    """Run the batch and look at its memory; with `until` kill it once so many lines stand."""
    state = {**os.environ, "CONSILIENCE_STATE_DIR": str(folder / "state")}
    process = subprocess.Popen(command, cwd=folder, env=state, stderr=subprocess.PIPE)
    memory: list[float] = []
    looked = 0.0
    while process.poll() is None:
        if time.perf_counter() - looked > 3:
            looked = time.perf_counter()
            memory.append(resident(process.pid))
        if until is not None and lines(output) >= until:
            process.send_signal(signal.SIGKILL)
            process.wait()
            break
        time.sleep(0.1)
    assert process.stderr is not None
    process.stderr.close()
    return process.returncode, memory


def resident(pid: int) -> float:
    """Resident memory of a process in MB; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def check(output: Path, queries: list[str]) -> None:
    told = Counter(json.loads(line)["query"] for line in output.read_text().splitlines())
    missing = [query for query in queries if query not in told]
    twice = [query for query, count in told.items() if count > 1]
    assert not missing, f"{len(missing)} missing"
    assert not twice, f"{len(twice)} twice"
    assert len(told) == len(queries)


if __name__ == "__main__":
    main()
