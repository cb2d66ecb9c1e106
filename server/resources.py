"""Resources: the engines, their files, fetched pages and reports; and completion of their ids."""

from __future__ import annotations

import json
from dataclasses import asdict
from difflib import get_close_matches
from typing import TYPE_CHECKING

from mcp.server.mcpserver import Context  # noqa: TC002 - the SDK reads it at run time
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import Completion, ResourceTemplateReference

from server.callers import caller_of
from server.tools.base import untrusted

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server import MCPServer
    from mcp.types import CompleteRequestParams

    from server.app import Application

__all__ = ["add_resources", "completions"]

_MOST = 100
_ENGINE = "consilience://engine/{id}"
_PAGE = "consilience://page/{fingerprint}"
_REPORT = "consilience://report/{id}"


def add_resources(server: MCPServer[None], app: Application) -> None:
    """Register the resources of an application."""

    @server.resource(
        "consilience://engines",
        name="engines",
        title="Engines",
        description="Every engine with its kind, index lineage, rest and problems.",
        mime_type="application/json",
    )
    async def engines() -> str:
        return json.dumps([asdict(state) for state in app.engine_states()], ensure_ascii=False)

    @server.resource(
        _ENGINE,
        name="engine",
        title="Engine file",
        description="The YAML file that makes an engine.",
        mime_type="application/yaml",
    )
    async def engine(id: str) -> str:  # noqa: A002 - named by the template
        if id not in app.catalogue.ids():
            near = get_close_matches(id, app.catalogue.ids(), n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise ResourceNotFoundError(f"There is no engine {id[:80]!r}{meant}")
        return app.catalogue.entry(id).path.read_text(encoding="utf-8")

    @server.resource(
        _REPORT,
        name="report",
        title="Report",
        description="A report of search_deep, while it is kept.",
        mime_type="text/markdown",
    )
    async def report(id: str, context: Context) -> str:  # noqa: A002
        kept = app.reports.get(id, caller_of(context.request_context))
        if kept is None:
            raise ResourceNotFoundError("There is no such report; reports expire")
        return kept.body.decode()

    @server.resource(
        _PAGE,
        name="page",
        title="Fetched page",
        description="A page that web_fetch read, as Markdown.",
        mime_type="text/markdown",
    )
    async def page(fingerprint: str, context: Context) -> str:
        kept = app.pages.get(fingerprint, caller_of(context.request_context))
        if kept is None:
            raise ResourceNotFoundError("There is no such page; fetch it again")
        return untrusted(kept.body.decode(), kept.name)


def completions(app: Application, params: CompleteRequestParams, caller: str) -> Completion:
    """Return the ids that begin as an argument does: engines, and the caller's own documents."""
    uri = params.ref.uri if isinstance(params.ref, ResourceTemplateReference) else ""
    known: dict[str, Callable[[], tuple[str, ...]]] = {
        _ENGINE: app.catalogue.ids,
        _PAGE: lambda: app.pages.ids(caller),
        _REPORT: lambda: app.reports.ids(caller),
    }
    ids = known[uri]() if uri in known else ()
    found = [name for name in ids if name.startswith(params.argument.value)]
    return Completion(values=found[:_MOST], total=len(found), has_more=len(found) > _MOST)
