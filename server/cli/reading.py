"""`consilience fetch`, `read`, `links` and `json`: pages on the command line."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from framework.errors import InvalidInputError
from framework.reading import projections, read
from server.app import Application
from server.cli.calls import run_with
from server.cli.output import as_json as print_json
from server.cli.output import line, note
from server.cli.setup import settings_of
from server.tools import select
from server.tools.base import Call, parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from server.tools.base import Reply

__all__ = ["call", "json_file", "read_file", "show_fingerprints"]


def call(
    name: str,
    arguments: Mapping[str, object],
    overrides: Mapping[str, object],
    *,
    as_json: bool,
    image: Path | None = None,
) -> None:
    """Run one tool and print its text, or with `as_json` its data; write its image to a file.

    Raises:
        InvalidInputError: a wrong argument, or the image's file cannot be written.
    """
    (tool,) = select((name,))
    given = parse(tool, {key: value for key, value in arguments.items() if value is not None})
    application = Application.create(settings_of(overrides))

    async def work(app: Application) -> Reply[Any]:
        reply: Reply[Any] = await tool.run(app, given, Call(caller="cli"))
        return reply

    reply = run_with(application, work)
    if as_json:
        print_json(reply.data)
    else:
        line(reply.text)
    if image is not None and reply.images:
        _write(image, reply.images[0])


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        raise InvalidInputError(f"{file}: {error.strerror or error}") from error
    note(f"wrote {file}")


def json_file(file: Path) -> object:
    """Read a JSON file; raises InvalidInputError where it cannot be read or is no JSON."""
    try:
        value: object = json.loads(file.read_bytes())
    except OSError as error:
        raise InvalidInputError(f"{file}: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInputError(f"{file}: is no JSON: {error}") from error
    return value


def show_fingerprints(*, as_json: bool) -> None:
    """Print what a site can tell about the client in each fetch mode that is no browser."""
    import asyncio

    from framework.types import FetchMode
    from spiders.fingerprint import what_a_site_sees

    async def look() -> dict[str, object]:
        modes = (FetchMode.HTTP, FetchMode.IMPERSONATE)
        return {mode.value: asdict(await what_a_site_sees(mode)) for mode in modes}

    seen = asyncio.run(look())
    if as_json:
        print_json(seen)
        return
    for mode, facts in seen.items():
        line(f"{mode}:")
        for name, value in facts.items() if isinstance(facts, dict) else ():
            line(f"  {name}: {value}")


def read_file(file: Path, *, url: str, form: str, as_json: bool) -> None:
    """Read a saved page as if it had come from `url`; nothing is sent.

    Raises:
        InvalidInputError: the file cannot be read.
    """
    try:
        body = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{file}: {error.strerror or error}") from error
    document = read(body, url)
    content = projections.project(document, form)
    if not as_json:
        line(content)
        return
    facts = document.metadata
    print_json(
        {
            "url": url,
            "kind": document.kind.value,
            "charset": document.charset,
            "title": facts.title,
            "description": facts.description,
            "author": facts.author,
            "site": facts.site,
            "language": facts.language,
            "published": facts.published,
            "word_count": facts.word_count,
            "content": content,
            "warnings": list(document.warnings),
            "fingerprint": document.fingerprint,
        }
    )
