"""The operator's pools file: named proxy pools in YAML, checked with line and column.

```yaml
pools:
  default:
    rotation: round-robin          # least-used, sticky
    members:
      - socks5h://user:${PROXY_PASSWORD}@gate.example:1080
      - {url: "http://other.example:3128", weight: 2}
      - {scheme: https, host: third.example, port: 443, user: me, password: "${PROXY_PASSWORD}"}
```
`${NAME}` stands for a variable of the environment, so that no password need stand in the file; it
may hold a part of an address, or all of it.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from pydantic import BeforeValidator, Field, ValidationError

from framework.errors import InvalidInputError
from framework.spec.base import Frozen, Model, Span, Whole
from framework.spec.places import Places
from framework.spec.problems import render_text
from framework.spec.source import load_file, load_text, plain
from framework.spec.validation import faults_of
from middlewares.pools import Health, Member, Pool, ProxyRotation, parse_proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from framework.spec.source import Source

__all__ = ["PoolsFile", "load_pools", "read_pools"]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _spelled_out(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


class MemberEntry(Model):
    """One proxy: an address, or its parts."""

    url: str | None = None
    scheme: str = "socks5h"
    host: str | None = None
    port: Annotated[Whole, Field(ge=1, le=65_535)] | None = None
    user: str | None = None
    password: str | None = Field(default=None, repr=False)
    weight: Annotated[float, Field(gt=0, le=1000)] = 1.0


class PoolEntry(Model):
    """One pool."""

    rotation: ProxyRotation = ProxyRotation.ROUND_ROBIN
    rest: Annotated[Span, Field(gt=0)] = 5.0
    longest_rest: Annotated[Span, Field(gt=0)] = 600.0
    members: Annotated[
        tuple[Annotated[MemberEntry, BeforeValidator(_spelled_out)], ...], Field(min_length=1)
    ]


class PoolsFile(Model):
    """The whole file."""

    pools: Frozen[PoolEntry]


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def load_pools(
    path: Path,
    environ: Mapping[str, str],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Pool]:
    """Read the pools file; raises InvalidInputError with every mistake's line, column and hint."""
    return _pools(load_file(path), environ, clock)


def read_pools(
    text: str,
    environ: Mapping[str, str],
    *,
    path: str = "proxies.yaml",
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Pool]:
    """Read the text of a pools file; `path` is named in errors."""
    return _pools(load_text(text, path), environ, clock)


def _pools(
    source: Source, environ: Mapping[str, str], clock: Callable[[], float]
) -> dict[str, Pool]:
    entries = _validated(source).pools
    return {
        name: _pool(f"{source.file.name}: pools.{name}", name, entry, environ, clock)
        for name, entry in entries.items()
    }


def _validated(source: Source) -> PoolsFile:
    if source.root is None or source.problems:
        raise InvalidInputError(render_text(sorted(source.problems)).strip())
    try:
        return PoolsFile.model_validate(plain(source.root))
    except ValidationError as error:
        problems = Places(source.root).problems(faults_of(error, source.root, PoolsFile))
        raise InvalidInputError(render_text(sorted(problems)).strip()) from None


def _pool(
    where: str,
    name: str,
    entry: PoolEntry,
    environ: Mapping[str, str],
    clock: Callable[[], float],
) -> Pool:
    if name == "direct" or not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"{where}: not a pool's name", hint="use lower-case letters, digits and hyphens"
        )
    members = [
        Member(_url(f"{where}.members.{number}", member, environ), member.weight)
        for number, member in enumerate(entry.members)
    ]
    health = Health(rest=entry.rest, longest=max(entry.longest_rest, entry.rest))
    return Pool(name, members, rotation=entry.rotation, health=health, clock=clock)


def _url(where: str, member: MemberEntry, environ: Mapping[str, str]) -> str:
    if (member.url is None) == (member.host is None):
        raise InvalidInputError(f"{where}: give either url or host")
    if member.url is not None:
        whole = _VARIABLE.fullmatch(member.url.strip()) is not None
        return parse_proxy(_filled(where, member.url, environ, coded=not whole), source=where)
    parts = {
        "scheme": member.scheme,
        "host": member.host or "",
        "user": _filled(where, member.user or "", environ),
        "password": _filled(where, member.password or "", environ),
    }
    return parse_proxy(_joined(parts, member.port), source=where)


def _joined(parts: Mapping[str, str], port: int | None) -> str:
    login = ":".join(quote(parts[name], safe="") for name in ("user", "password"))
    host = f"[{parts['host']}]" if ":" in parts["host"] else parts["host"]
    place = f"{host}:{port}" if port else host
    return (
        f"{parts['scheme']}://{login}@{place}" if login != ":" else f"{parts['scheme']}://{place}"
    )


def _filled(where: str, text: str, environ: Mapping[str, str], *, coded: bool = False) -> str:
    """Put variables in; inside an address they are percent-encoded."""

    def value(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in environ:
            raise InvalidInputError(f"{where}: variable {name} is not set", hint=f"set {name}")
        return quote(environ[name], safe="") if coded else environ[name]

    return _VARIABLE.sub(value, text)
