"""docs/clients.md, written from the entries that `consilience install` makes."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

from server.config import Settings
from server.install.clients import CLIENTS, NAME, Client, Command, Home
from server.install.links import cursor_link, snippet, vscode_link
from server.metrics import Metrics
from server.part_metrics import PartMetrics
from server.stores import Stores

__all__ = ["main", "render"]

_COMMAND = Command(NAME, ("mcp",))
_HOME = Home(Path("/home/you"))

#: Figures that are made when somebody asks, in `server.health` and `server.worker_metrics`.
_ELSEWHERE = (
    (
        "consilience_engine_week_answers",
        "gauge",
        "Answers of search engines in the last seven days, by verdict.",
    ),
    (
        "consilience_engine_rest_seconds",
        "gauge",
        "How long a resting engine will not be asked.",
    ),
    ("consilience_workers", "gauge", "Worker processes that live, where there are several."),
)

_HEAD = """\
# Clients

<!-- Written by `python -m server.install.guide docs/clients.md`; edit server/install instead. -->

`consilience install` finds the clients of this machine, shows the change to each one's file, keeps
a backup and leaves other servers, comments and layout as they are. `consilience install cursor`
does it for one client, `--print` only prints, `--uninstall` takes the entry out again. A file that
cannot be parsed is refused and left alone.

One-click: [add to Cursor]({cursor}) · [add to VS Code]({vscode})

By hand, each client's entry goes into the file named here. Where the client does not find the
program, write its full path (`which consilience`).
"""

_TAIL = """\
## Any other client

{plain}

## Over HTTP

Start the server once and let several clients use it:

```sh
consilience serve
```

```json
{{
  "mcpServers": {{
    "consilience": {{"type": "http", "url": "http://127.0.0.1:3000/mcp"}}
  }}
}}
```

With a token (`CONSILIENCE_TOKEN`, or `CONSILIENCE_TOKENS=name:token,…` for several callers) add
`"headers": {{"Authorization": "Bearer …"}}`. `/mcp?tools=web_search,web_fetch` publishes just those
tools to one connection, `/mcp?tools=compact` a single one that routes to all. A client that speaks
stdio only reaches it through `npx mcp-remote http://127.0.0.1:3000/mcp --allow-http`.

## In a container

`docker compose up` builds the image and serves it at port 3000 of this machine; `.env` has to set
`CONSILIENCE_TOKEN`, and for other names than localhost `CONSILIENCE_ALLOW_HOSTS`. The root file
system is read-only, nobody in it is root, and the state lies in a volume. `docker build --target
test .` runs the tests inside. The steps of the `Dockerfile`, the entry point and the health check
are carried out in a scratch folder by a test, which needs no container engine; no engine has built
the image for this page.

With `consilience serve --workers N` each process has its own limits for callers, settings and rests
are shared, and `/metrics` is the sum over all of them.

## Metrics

`/metrics` is Prometheus text, behind the same token as all else; counters end in `_total`:

{metrics}

## From a script

`echo '{{"tool": "web_search", "args": {{"query": "cats"}}}}' | consilience` prints one answer as
JSON. A whole conversation may be piped into `consilience mcp`, too: after the end of input its
calls are still answered, within three seconds where the output is a pipe, otherwise within their
own time limits.

## On Windows

The server runs on Linux and macOS, on Windows inside WSL: a client there starts the command `wsl`
with the arguments `consilience` and `mcp`.

## Time-outs

A search answers within ten seconds, `search_deep` works for minutes. The server reports progress
every second, and clients that follow the protocol wait as long as it comes. Where one does not,
raise its limit: `MCP_TIMEOUT` and `MCP_TOOL_TIMEOUT` (milliseconds) in Claude Code, `timeout`
(seconds) in Cline's entry. `search_deep` takes `time_budget`, so that it returns in time what it
has.

## See that it works

```sh
consilience inspect list -- consilience mcp
consilience inspect call web_search -a query="javascript tutorial" -- consilience mcp --replay
```
"""


def render() -> str:
    """Return the page."""
    head = _HEAD.format(cursor=cursor_link(_COMMAND), vscode=vscode_link(_COMMAND))
    plain = f"```json\n{snippet(CLIENTS[0], _COMMAND)}\n```"
    tail = _TAIL.format(plain=plain, metrics=_metrics())
    return "\n".join([head, *map(_section, CLIENTS), tail])


def _metrics() -> str:
    """Every figure, with its labels, from those who count it."""
    own = Metrics().registry.collect()
    parts = PartMetrics(Stores(Settings(), {}, live=False), {}).collect()
    families = [(family.name, family.type, family.documentation) for family in (*own, *parts)]
    rows = [f"| `{name}` | {kind} | {text} |" for name, kind, text in (*families, *_ELSEWHERE)]
    return "\n".join(["| figure | type | what |", "| --- | --- | --- |", *rows])


def _section(client: Client) -> str:
    file = PurePosixPath(client.file(_HOME)).relative_to("/home/you")
    note = _elsewhere(client)
    return f"## {client.title}\n\n`~/{file}`{note}\n\n```json\n{snippet(client, _COMMAND)}\n```\n"


def _elsewhere(client: Client) -> str:
    """Where the file lies on other systems, if not at the same place."""
    if client.base == "home":
        return ""
    windows = f"Windows: `%APPDATA%\\{client.path.replace('/', chr(92))}`"
    if client.base == "dotted":
        return f" ({windows})"
    return f" (macOS: `~/Library/Application Support/{client.path}`, {windows})"


def main() -> None:
    """Write the page to the path given as argument."""
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
