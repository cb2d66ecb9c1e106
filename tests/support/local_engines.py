"""Engines that point at a local site, for a server that may talk to loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_local"]

_ENGINE = """\
schema: 1
id: {id}
name: {id}
kind: web
settings: {{base: {{env: LOCAL_{name}_URL}}}}
request: {{url: "{{{{ settings.base }}}}/", query: {{q: "{{{{ query }}}}"}}}}
verdicts: [{{empty: {{css: "#none"}}}}]
response:
  format: html
  rows: {{each: li}}
  fields: {{title: a, url: "a::attr(href)"}}
limits: {{timeout: 20s, concurrency: 16}}
"""


def write_local(folder: Path, **addresses: str) -> dict[str, str]:
    """Write an engine file for each name and return the variables that hold their addresses."""
    folder.mkdir(exist_ok=True)
    for name in addresses:
        text = _ENGINE.format(id=name, name=name.upper())
        (folder / f"{name}.yaml").write_text(text)
    return {
        "CONSILIENCE_ENGINES_DIR": str(folder),
        "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
        "CONSILIENCE_ENGINES": ",".join(addresses),
        **{f"LOCAL_{name.upper()}_URL": url for name, url in addresses.items()},
    }
