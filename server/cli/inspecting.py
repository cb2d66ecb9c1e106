"""`consilience inspect`: look at any MCP server, over HTTP or as a subprocess."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from framework.errors import ConsilienceError
from server.cli.options import AsJson
from server.cli.output import as_json as print_json
from server.cli.output import line, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp import Client
    from mcp.types import CallToolResult, Tool

    from server.explorer import Catalogue

__all__ = ["app"]

T = TypeVar("T")
_COMMAND = "consilience.command"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at an MCP server.\n\nAt --url URL, or after -- the COMMAND and its arguments.",
)

Url = Annotated[str | None, typer.Option("--url", help="Address of a streamable HTTP server.")]
Token = Annotated[str | None, typer.Option("--token", help="Bearer token.")]
Seconds = Annotated[
    float, typer.Option("--timeout", min=1, max=3600, help="Seconds for each request.")
]
Name = Annotated[str, typer.Argument(help="The tool.")]


class _Splitting(TyperCommand):
    """A command that keeps what follows `--` apart: the server to run."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        own = args
        if "--" in args:
            at = args.index("--")
            own, ctx.meta[_COMMAND] = args[:at], tuple(args[at + 1 :])
        return super().parse_args(ctx, own)


@app.command("list", cls=_Splitting)
def listing(
    context: typer.Context,
    url: Url = None,
    token: Token = None,
    timeout: Seconds = 60,
    as_json: AsJson = False,
) -> None:
    """List what a server offers."""
    from server import explorer

    found = _with(context, url, token, timeout, explorer.listing)
    if as_json:
        print_json(found.as_data())
        return
    _show_listing(found)


def _show_listing(found: Catalogue) -> None:
    line(f"{found.name} {found.version}, protocol {found.protocol}")
    rows = [[tool.name, _signature(tool), (tool.title or "")] for tool in found.tools]
    table(["tool", "arguments", "title"], rows)
    for label, names in (("Resources", found.resources), ("Prompts", found.prompts)):
        if names:
            line(f"{label}: {', '.join(names)}")


def _signature(tool: Tool) -> str:
    required = tool.input_schema.get("required", [])
    names = tool.input_schema.get("properties", {})
    return " ".join(name if name in required else f"[{name}]" for name in names)


@app.command("show", cls=_Splitting)
def show(
    context: typer.Context,
    name: Name,
    url: Url = None,
    token: Token = None,
    timeout: Seconds = 60,
    as_json: AsJson = False,
) -> None:
    """Show one tool with its arguments."""
    from server import explorer

    async def work(client: Client) -> Tool:
        return await explorer.tool_named(client, name)

    tool = _with(context, url, token, timeout, work)
    if as_json:
        print_json(tool.model_dump(mode="json", by_alias=True, exclude_none=True))
        return
    line(f"{tool.name}: {tool.title or ''}\n\n{tool.description or ''}\n")
    required = tool.input_schema.get("required", [])
    table(
        ["argument", "", "form"],
        [
            [key, "required" if key in required else "", json.dumps(part)]
            for key, part in tool.input_schema.get("properties", {}).items()
        ],
    )


@app.command("call", cls=_Splitting)
def call(
    context: typer.Context,
    name: Name,
    argument: Annotated[
        list[str] | None, typer.Option("-a", "--argument", help="key=value, repeatable.")
    ] = None,
    args: Annotated[str | None, typer.Option("--args", help="All arguments as JSON.")] = None,
    url: Url = None,
    token: Token = None,
    timeout: Seconds = 60,
    as_json: AsJson = False,
) -> None:
    """Call a tool and print its answer; exit 1 if it failed."""
    from server import explorer

    async def work(client: Client) -> CallToolResult:
        tool = await explorer.tool_named(client, name)
        given = explorer.arguments_of(tool.input_schema, argument or (), args)
        return await explorer.call(client, name, given)

    result = _with(context, url, token, timeout, work)
    text = "\n".join(getattr(part, "text", f"[{part.type}]") for part in result.content)
    if as_json:
        print_json(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    elif not result.is_error:
        line(text)
    if result.is_error:
        raise ConsilienceError(f"{name}: {text}")


def _with(
    context: typer.Context,
    url: str | None,
    token: str | None,
    timeout: float,
    work: Callable[[Client], Awaitable[T]],
) -> T:
    from server.explorer import Target, connected

    target = Target(url=url, token=token, command=context.meta.get(_COMMAND, ()), timeout=timeout)

    async def run() -> T:
        async with connected(target) as client:
            return await work(client)

    return asyncio.run(run())
