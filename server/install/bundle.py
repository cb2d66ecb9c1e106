"""The `.mcpb` bundle: a zip that desktop clients install by a double click.

It carries the package's own sources; the client's `uv` fetches the libraries that it needs.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from server import tools
from server.version import VERSION

__all__ = ["build", "main", "manifest"]

_FOLDERS = ("framework", "spiders", "middlewares", "server", "engines.d", "fixtures")
_FILES = ("pyproject.toml", "README.md", "LICENSE", "engine-v1.json")
_LEFT_OUT = frozenset({"__pycache__", ".DS_Store"})
_EPOCH = (2020, 1, 1, 0, 0, 0)


def manifest() -> dict[str, Any]:
    """Return the bundle's description, with the settings that a user is asked for."""
    return {
        "manifest_version": "0.4",
        "name": "consilience",
        "display_name": "Consilience",
        "version": VERSION,
        "description": "Web search by consensus of many engines, reading and evidence.",
        "author": {"name": "The Consilience maintainers"},
        "license": "Apache-2.0",
        "server": {
            "type": "uv",
            "entry_point": "server/cli/__init__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "consilience", "mcp"],
                "env": {
                    "CONSILIENCE_PROXY": "${user_config.proxy}",
                    "CONSILIENCE_ENGINES": "${user_config.engines}",
                    "BRAVE_API_KEY": "${user_config.brave_api_key}",
                },
            },
        },
        "tools": [{"name": t.name, "description": t.description} for t in tools.ALL],
        "compatibility": {
            "platforms": ["darwin", "linux"],
            "runtimes": {"python": ">=3.11"},
        },
        "user_config": {
            "proxy": _setting("Proxy", "Everything leaves by this URL", sensitive=True),
            "engines": _setting("Engines", "Asked by default, comma-separated"),
            "brave_api_key": _setting("Brave key", "Key of the Brave Search API", sensitive=True),
        },
    }


def _setting(title: str, text: str, *, sensitive: bool = False) -> dict[str, Any]:
    return {
        "type": "string",
        "title": title,
        "description": text,
        "required": False,
        "default": "",
        "sensitive": sensitive,
    }


def build(root: Path, target: Path) -> Path:
    """Write the bundle of the checkout at `root`; equal sources give equal bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        _add(bundle, "manifest.json", json.dumps(manifest(), indent=2).encode())
        for file in _contents(root):
            _add(bundle, file.relative_to(root).as_posix(), file.read_bytes())
    return target


def _contents(root: Path) -> list[Path]:
    files = [root / name for name in _FILES]
    for folder in _FOLDERS:
        files += [path for path in (root / folder).rglob("*") if path.is_file()]
    return sorted(file for file in files if not _LEFT_OUT & set(file.parts))


def _add(bundle: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    bundle.writestr(entry, data)


def main() -> None:
    """Write the bundle of the working folder to the path given as argument."""
    target = build(Path.cwd(), Path(sys.argv[1]))
    sys.stdout.write(f"{target}: {target.stat().st_size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
