"""The command line: `consilience`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from server.instant import Front

__all__ = ["main"]

#: Set by the shell's completion script, whatever standard input is then.
_COMPLETING = "_CONSILIENCE_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process: 0 fine, 1 it failed, 2 wrong usage.

    With no arguments and something piped in, the first line decides: `jsonrpc` starts the MCP
    server on this pipe, `tool` runs one call and prints its JSON.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not given and not sys.stdin.isatty() and _COMPLETING not in os.environ:
            from server.cli.pipe import run_piped

            code = run_piped()
        else:
            front = _front(given)
            from server.cli.commands import app

            app(given, prog_name="consilience", standalone_mode=True, obj=front)
            code = 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001 - the border: no traceback reaches a user
        code = _explain(error)
    sys.exit(code)


def _front(given: Sequence[str]) -> Front | None:
    """Answer an MCP client at once, before anything else is loaded."""
    if given[:1] != ["mcp"]:
        return None
    from server import instant

    return instant.start(given[1:], os.environ)


def _explain(error: Exception) -> int:
    from framework.errors import ConsilienceError

    if isinstance(error, ConsilienceError):
        sys.stderr.write(f"consilience: {error}\n")
        return 1
    import logging

    logging.getLogger(__name__).debug("unexpected failure", exc_info=error)
    sys.stderr.write(
        f"consilience: unexpected {type(error).__name__}: {error}; "
        "CONSILIENCE_LOG=debug shows more\n"
    )
    return 1
