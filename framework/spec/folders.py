"""Where engine files are looked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from framework.spec.catalogue import packaged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["VARIABLE", "engine_folders"]

#: The variable that names the operator's folders, separated as in PATH.
VARIABLE = "CONSILIENCE_ENGINES_DIR"


def engine_folders(
    named: Sequence[str], environ: Mapping[str, str], here: Path | None = None
) -> list[Path]:
    """Return the folders of engine files, the first one winning: named ones, then the packaged.

    Without names the variable `CONSILIENCE_ENGINES_DIR` counts, then `./engines.d` where there
    is one.
    """
    local = (here or Path.cwd()) / "engines.d"
    given = named or environ.get(VARIABLE, "").split(os.pathsep)
    own = [Path(text) for text in given if text] or ([local] if local.is_dir() else [])
    return list({path.resolve(): path for path in (*own, packaged())}.values())
