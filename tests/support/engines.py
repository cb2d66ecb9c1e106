"""Small engine files and recordings for tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from framework.spec.compiler import Engine, compile_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FORM", "PLAIN", "TOKEN", "engine", "record", "rows", "write_engine"]

#: One HTML page per offset, read by CSS.
PLAIN = """\
schema: 1
id: plain
name: Plain
kind: web
request:
  url: https://plain.example/search
  query: {q: "{{ query }}", first: "{{ offset if page > 1 }}"}
paging: {by: offset, size: 2, first: 1, max: 5}
verdicts:
  - captcha: {css: "#captcha"}
  - rate_limited: {status: [429]}
  - blocked: {status: [403]}
  - empty: {any: [{css: "#none"}, {status: [303]}]}
response:
  format: html
  rows: {each: "li"}
  fields: {title: a, url: "a::attr(href)", snippet: {css: p, optional: true}}
limits: {timeout: 5s}
"""

#: A form posted from page to page.
FORM = """\
schema: 1
id: form
name: Form
kind: web
request:
  url: https://form.example/html
  method: POST
  form: {q: "{{ query }}"}
paging: {by: form, form: "form#next", size: 2, max: 5}
verdicts:
  - empty: {css: "#none"}
response:
  format: html
  rows: {each: "li"}
  fields: {title: a, url: "a::attr(href)"}
limits: {timeout: 5s}
"""

#: A token taken from a script first, shared by everybody who uses the same proxy.
TOKEN = """\
schema: 1
id: token
name: Token
kind: web
session:
  - id: script
    request: {url: "https://token.example/app.js"}
    take: {key: {text_of: body, do: [{match: 'KEY = "([^"]+)"'}]}}
    ttl: 1h
    scope: proxy
request:
  url: https://token.example/search
  query: {q: "{{ query }}", k: "{{ session.script.key }}"}
verdicts:
  - captcha: {css: "#captcha"}
  - empty: {css: "#none"}
response:
  format: html
  rows: {each: "li"}
  fields: {title: a, url: "a::attr(href)"}
limits: {timeout: 5s}
"""


def engine(text: str = PLAIN) -> Engine:
    return compile_text(text, "test.yaml")


def write_engine(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{engine(text).id}.yaml").write_text(text, encoding="utf-8")


def rows(*names: str, extra: str = "") -> str:
    """A results page: each name is a hit on its own site."""
    hits = "".join(
        f'<li><a href="https://{name}.example/">{name.title()}</a><p>about {name}</p></li>'
        for name in names
    )
    return f"<html><body><ul>{hits}</ul>{extra}</body></html>"


def record(
    folder: Path, name: str, case: str, url: str, body: str, suffix: str = "html", **meta: object
) -> None:
    """Write one recording, laid out as the packaged ones are."""
    home = folder / name / case
    home.mkdir(parents=True, exist_ok=True)
    (home / f"response.{suffix}").write_text(body, encoding="utf-8")
    facts = {"source": "documentation", "url": url, **meta}
    lines = [f"{key}: {json.dumps(value)}" for key, value in facts.items()]
    (home / "meta.yaml").write_text("\n".join(lines), encoding="utf-8")
