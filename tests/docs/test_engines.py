"""docs/engines.md followed literally, as a new user would; its generated parts are in step."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.authoring.reference import PARTS, renew
from framework.spec.compiler import compile_text

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Some twenty commands, each a program of its own.
pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "engines.md"
_BLOCK = re.compile(
    r"(?:<!-- (?P<remark>[^\n]*?) -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```", re.M | re.S
)


def blocks() -> Iterator[tuple[str, str, str]]:
    for match in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        yield match["kind"], match["remark"] or "", match["body"]


def script() -> Iterator[str]:
    """The page as one shell script: commands are run, files written, written files compared."""
    yield "set -euo pipefail"
    for kind, remark, body in blocks():
        if kind == "sh" and not remark.startswith("not run: "):
            yield body
        elif remark.startswith("file: "):
            yield f"cat > {remark.removeprefix('file: ')} <<'END_OF_FILE'\n{body}END_OF_FILE"
        elif remark.startswith("written: "):
            yield f"diff {remark.removeprefix('written: ')} - <<'END_OF_FILE'\n{body}END_OF_FILE"


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("reader")
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", "\n".join(script())],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "CONSILIENCE_STATE_DIR": str(folder / "state"),
        },
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    assert "Traceback" not in done.stderr
    return folder / "my-search", done.stdout


def test_the_engine_works_at_the_end(followed: tuple[Path, str]) -> None:
    folder, said = followed

    assert "1 engine, 2 recordings: all fine" in said
    assert (folder / "merged.jsonl").read_text().count("\n") == 3
    assert (folder / "rows.jsonl").read_text().count("\n") == 12
    assert "<svg" in (folder / "report.html").read_text() or "shelf" in said


def test_the_healed_file_keeps_its_comments_and_reads_both_pages(
    followed: tuple[Path, str],
) -> None:
    folder, said = followed
    text = (folder / "engines.d" / "shelf.yaml").read_text()

    assert "# the line that only the empty page has" in text
    assert ".hits > .hit, " in text
    assert said.count("4  A first telescope") == 2


@pytest.mark.parametrize(
    "body",
    [
        body
        for kind, remark, body in blocks()
        if kind == "yaml" and not remark.startswith("written")
    ],
    ids=lambda body: re.search(r"^id: (\S+)", body, re.M)[1],  # type: ignore[index]
)
def test_a_yaml_block_is_a_whole_engine(body: str) -> None:
    name = re.search(r"^id: (\S+)", body, re.M)
    assert name is not None

    assert compile_text(body, f"{name[1]}.yaml").id == name[1]


def test_generated_parts_are_in_step_with_the_program() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert renew(text) == text, "run `python -m framework.authoring.reference docs/engines.md`"
    assert set(re.findall(r"<!-- generated: ([a-z-]+) -->", text)) == set(PARTS)


def test_every_command_for_engines_is_shown() -> None:
    from server.cli.engines import app

    text = PAGE.read_text(encoding="utf-8")
    names = [c.name or getattr(c.callback, "__name__", "") for c in app.registered_commands]
    missing = [name for name in names if f"consilience engines {name}" not in text]

    assert set(missing) <= {"list", "schema"}
