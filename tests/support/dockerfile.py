"""Reading a Dockerfile, and carrying out what of its steps needs neither root nor a container."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Place", "Stage", "Step", "stages"]

#: The first words of commands that change the system around the image's own folders.
_AS_ROOT = frozenset({"apt-get", "useradd", "install", "rm"})


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction and all behind it, its continued lines joined."""

    name: str
    rest: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage, the one it is built upon, and its steps."""

    name: str
    base: str
    steps: tuple[Step, ...]


def stages(text: str) -> dict[str, Stage]:
    """Return the stages of a Dockerfile by their names."""
    found: dict[str, Stage] = {}
    joined = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", text))
    for block in re.split(r"(?m)^(?=FROM )", joined)[1:]:
        first, *lines = [line for line in block.splitlines() if line.strip()]
        _, base, _, name = first.split()
        steps = tuple(Step(*line.split(maxsplit=1)) for line in lines)
        found[name] = Stage(name, base, steps)
    return found


@dataclass(slots=True)
class Place:
    """A scratch folder that stands for the image's root; `source` is the build context."""

    root: Path
    source: Path
    environment: dict[str, str]
    folder: str = "/"
    variables: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def at(self, path: str) -> Path:
        """Where a path of the image lies."""
        return self.root / (PurePosixPath(self.folder) / path).relative_to("/")

    def carry_out(self, stage: Stage) -> None:
        """Do a stage's steps; commands that need root are put into `left_out`."""
        self.folder = "/"
        for step in stage.steps:
            if step.name == "WORKDIR":
                self.folder = step.rest
                self.at("").mkdir(parents=True, exist_ok=True)
            elif step.name == "ENV":
                self.variables |= dict(word.split("=", 1) for word in shlex.split(step.rest))
            elif step.name == "COPY" and not step.rest.startswith("--"):
                *sources, target = step.rest.split()
                for source in sources:
                    self._copy(source, target)
            elif step.name == "RUN":
                for command in step.rest.split("&&"):
                    self._run(command.strip())

    def _copy(self, source: str, target: str) -> None:
        given = self.source / source
        if given.is_dir():
            shutil.copytree(given, self.at(target), dirs_exist_ok=True, ignore=self._ignored)
        else:
            self.at(target).mkdir(parents=True, exist_ok=True)
            shutil.copy2(given, self.at(target))

    def _ignored(self, folder: str, names: list[str]) -> set[str]:
        rules = (self.source / ".dockerignore").read_text().split()
        here = PurePath(folder).relative_to(self.source)
        return {name for name in names if any(_fits(here / name, rule) for rule in rules)}

    def _run(self, command: str) -> None:
        if command.split()[0] in _AS_ROOT:
            self.left_out.append(command)
            return
        ended = self.run([*map(self._here, shlex.split(command))])
        assert ended.returncode == 0, f"{command}\n{ended.stderr}"

    def _here(self, word: str) -> str:
        """A word of a command with the image's own folders moved to where they lie."""
        return re.sub(r"^/(?=opt/|state)", f"{self.root}/", word)

    def run(
        self, words: list[str], more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in the working folder with the image's variables."""
        return subprocess.run(
            words,
            cwd=self.at(""),
            env=self.environ(more),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the variables of a process in the image."""
        path = self.environment["PATH"]
        variables = {
            name: value.replace("$PATH", path).replace("/opt/", f"{self.root}/opt/")
            for name, value in self.variables.items()
        }
        return {**self.environment, **variables, **(more or {})}


def _fits(path: PurePath, rule: str) -> bool:
    anywhere = rule.removeprefix("**/")
    return fnmatch(path.name if anywhere != rule else str(path), anywhere)
