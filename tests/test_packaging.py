"""The wheel: it holds what the program needs and works in an empty folder, without the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGES = ("framework", "spiders", "middlewares", "server")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python")


class Installed(NamedTuple):
    """A fresh environment with the wheel in it, and an empty folder to stand in."""

    python: Path
    folder: Path

    def run(self, *command: str, expect: int = 0) -> str:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CONSILIENCE_", "COVERAGE", "COV_", "PYTHON", "SCRAPY_"))
        }
        done = subprocess.run(
            [str(self.python.parent / command[0]), *command[1:]],
            cwd=self.folder,
            env={**environment, "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == expect, done.stdout[-2000:] + done.stderr[-2000:]
        assert "Traceback" not in done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel, install it alone, and borrow the dependencies of the running environment."""
    work = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(work), "."],
        cwd=root,
        check=True,
        capture_output=True,
        timeout=100,
    )
    wheel = next(work.glob("*.whl"))
    home = work / "env"
    venv.create(home, with_pip=False, symlinks=True)
    site = next(home.glob("lib/python*/site-packages"))
    subprocess.run(
        [
            *PIP,
            str(home / "bin" / "python"),
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            str(wheel),
        ],
        check=True,
        timeout=100,
    )
    borrowed = Path(next(p for p in sys.path if p.endswith("site-packages")))
    (site / "borrowed.pth").write_text(f"{borrowed}\n")
    scrapy = home / "bin" / "scrapy"
    scrapy.write_text(
        f"#!{home / 'bin' / 'python'}\nfrom scrapy.cmdline import execute\nexecute()\n"
    )
    scrapy.chmod(0o755)
    folder = work / "empty"
    folder.mkdir()
    return Installed(home / "bin" / "python", folder)


def test_the_four_names_are_ours_alone(installed: Installed) -> None:
    code = (
        "import json, importlib.metadata as m; "
        f"print(json.dumps([m.packages_distributions()[n] for n in {PACKAGES!r}]))"
    )

    owners = json.loads(installed.run("python", "-c", code))

    assert [set(names) for names in owners] == [{"consilience"}] * 4


def test_it_is_not_the_checkout(installed: Installed, root: Path) -> None:
    shown = installed.run("python", "-c", "import framework; print(framework.__file__)").strip()

    assert not Path(shown).is_relative_to(root)


def test_engines_check(installed: Installed) -> None:
    installed.run("consilience", "engines", "check")


def test_search_recordings(installed: Installed) -> None:
    answer = json.loads(
        installed.run("consilience", "search", "javascript tutorial", "--replay", "--json")
    )

    assert answer["results"]
    assert {report["verdict"] for report in answer["engines"]} == {"ok"}


def test_spiders(installed: Installed) -> None:
    names = installed.run("consilience", "spiders").split()

    assert {"bing", "consensus"} <= set(names)


def test_a_project_folder_made_by_init(installed: Installed, tmp_path: Path) -> None:
    here = installed._replace(folder=tmp_path)

    here.run("consilience", "init")

    assert "bing" in here.run("scrapy", "list").split()
    fixtures = here.run(
        "python", "-c", "from framework.spec import catalogue as c; print(c.packaged_fixtures())"
    ).strip()
    crawl = ("scrapy", "crawl", "bing", "-a", "query=x", "-s", f"REPLAY={fixtures}")
    here.run(*crawl, "-O", "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows
    assert {row["engine"] for row in rows} == {"bing"}
