"""Running the HTTP server: one process, or several workers behind one socket."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from framework.errors import InvalidInputError
from server.app import Application
from server.config import Environment, load
from server.http.app import http_app
from server.http.security import Access
from server.selection import Selection
from server.surface import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.applications import Starlette

__all__ = ["Plan", "run", "worker"]

_PLAN = "CONSILIENCE_WORKER_PLAN"
#: Seconds that calls in flight get; closing behind them takes the rest of the three in all.
_GRACE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What every worker is started with: options over the environment, tools, recordings, key.

    `counters` is the folder where workers share what they count.
    """

    overrides: Mapping[str, object]
    tools: tuple[str, ...] = ()
    replay: bool = False
    workers: int = 1
    key: bytes | None = None
    counters: str = ""

    def application(self) -> Application:
        """Build the application that the plan describes."""
        environment = Environment.read()
        settings = load(environment, **self.overrides)
        return Application.create(settings, environment, replay=self.replay, watch=True)

    def build(self) -> Starlette:
        """Build the ASGI application; raises ConsilienceError for settings that are not safe."""
        application = self.application()
        access = Access.of(application.settings)
        surface = build(
            application, Selection(self.tools or application.settings.tools), key=self.key
        )
        counters = Path(self.counters) if self.counters else None
        return http_app(surface, access, sessions=self.workers == 1, counters=counters)

    def dumped(self) -> str:
        """Return the plan as text for a worker's environment."""
        key = base64.b64encode(self.key or b"").decode()
        return json.dumps(
            {
                "overrides": dict(self.overrides),
                "tools": self.tools,
                "replay": self.replay,
                "workers": self.workers,
                "key": key,
                "counters": self.counters,
            },
            default=str,
        )

    @classmethod
    def loaded(cls, text: str) -> Plan:
        """Read what `dumped` wrote."""
        given: dict[str, Any] = json.loads(text)
        key = base64.b64decode(given.pop("key")) or None
        return cls(**{**given, "tools": tuple(given["tools"]), "key": key})


def worker() -> Starlette:
    """Build one worker's application from the plan in its environment."""
    return Plan.loaded(os.environ[_PLAN]).build()


class _Server(uvicorn.Server):
    """A server that ends with status 0 where it was told to end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(plan: Plan) -> None:
    """Serve until the process is told to end; calls in flight get three seconds.

    Raises:
        InvalidInputError: the address cannot be listened on.
        ConsilienceError: settings that are wrong or not safe.
    """
    settings = load(Environment.read(), **plan.overrides)
    Access.of(settings)
    if plan.workers > 1:
        _run_workers(plan, settings.host, settings.port)
        return
    listening = _listen(settings.host, settings.port)
    _Server(_config(plan.build())).run(sockets=[listening])


def _run_workers(plan: Plan, host: str, port: int) -> None:
    from uvicorn.supervisors import Multiprocess

    listening = _listen(host, port)
    key = plan.key or secrets.token_bytes(32)
    config = _config("server.http.serving:worker", workers=plan.workers)
    with tempfile.TemporaryDirectory(prefix="consilience-", ignore_cleanup_errors=True) as counters:
        os.environ[_PLAN] = replace(plan, key=key, counters=counters).dumped()
        Multiprocess(config, sockets=[listening]).run()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen(2_048)
    except OSError as error:
        listening.close()
        raise InvalidInputError(
            f"cannot listen on {host} port {port}: {error.strerror or error}",
            hint="choose another with --port, or end the program that has it",
        ) from None
    listening.set_inheritable(True)
    name = f"[{host}]" if family == socket.AF_INET6 else host
    base = f"http://{name}:{listening.getsockname()[1]}/"
    sys.stderr.write(f"consilience: MCP at {base}mcp and a page to search with at {base}\n")
    return listening


def _config(app: Starlette | str, workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=30,
    )
