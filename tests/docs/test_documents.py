"""Every command and every YAML block of the README and docs works, or says why it is not run.

A comment before a block decides: `<!-- not run: REASON -->` leaves a block out,
`<!-- checked as: pools -->` names what a YAML block is when it is no engine file.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.spec.compiler import compile_text
from middlewares.pools_file import read_pools
from server import reference

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
#: docs/engines.md has a test of its own, which follows it step by step.
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "engines.md"),
]
_BLOCK = re.compile(
    r"(?:<!-- (?P<remark>[^\n]*?) -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```", re.M | re.S
)
#: Lines that are not run, and why.
NOT_RUN = {
    "make run": "continuous integration runs it",
    "make test": "this is it",
    "consilience serve": "it serves until it is told to end",
    "pipx install consilience": "another program, and it needs a package index",
}


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` counts from 1."""

    page: Path
    line: int
    kind: str
    body: str
    remark: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(*kinds: str) -> list[Block]:
    return [block for page in PAGES for block in _of(page) if block.kind in kinds]


def _of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page, line, match["kind"], match["body"], match["remark"] or "")


def commands() -> list[tuple[str, str]]:
    found = []
    for block in blocks("sh", "console"):
        if block.remark.startswith("not run: "):
            continue
        for line in block.body.splitlines():
            command = line.removeprefix("$ ") if block.kind == "console" else line
            if block.kind == "console" and not line.startswith("$ "):
                continue
            command = re.sub(r"\s+#.*", "", command).strip()
            if command and command not in NOT_RUN:
                found.append((str(block), command))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what commands in the documentation expect around them."""
    for name in ("fixtures", "engines.d", "tests", "scrapy.cfg"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("command", [c for _, c in commands()], ids=[n for n, _ in commands()])
def test_a_command_works(command: str, folder: Path) -> None:
    words = shlex.split(command)
    program = Path(sys.executable).parent / words[0]
    assert program.exists(), f"{words[0]} is not ours; say why it is not run"

    done = subprocess.run(
        [str(program), *words[1:]],
        cwd=folder,
        env={
            **os.environ,
            "PATH": os.pathsep.join([str(program.parent), os.environ["PATH"]]),
            "CONSILIENCE_STATE_DIR": str(folder / "state"),
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_a_yaml_block_is_valid(block: Block) -> None:
    if block.remark == "checked as: pools":
        assert read_pools(block.body, {"PROXY_PASSWORD": "p"})
        return
    if block.remark.startswith("not run: "):
        return
    name = re.search(r"^id: (\S+)", block.body, re.M)
    assert name, "no engine file; say what it is checked as"
    assert compile_text(block.body, f"{name[1]}.yaml").id == name[1]


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_a_json_block_is_valid(block: Block) -> None:
    json.loads(block.body)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", reference.PAGES)
def test_generated_pages_are_in_step(name: str) -> None:
    committed = (ROOT / "docs" / name).read_text(encoding="utf-8")

    assert committed == reference.PAGES[name](), "run `make docs`"


def test_the_text_names_no_block_without_a_language() -> None:
    for page in PAGES:
        fences = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), re.M)
        assert all(opening.strip() for opening in fences[::2]), page.name
