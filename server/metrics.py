"""What a running server counts, in the form that Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from framework.types import EngineReport

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counters of one application; labels come from closed lists and file names only."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._answers = Counter(
            "consilience_engine_answers",
            "Answers of search engines by verdict.",
            ("engine", "verdict"),
            registry=self.registry,
        )
        self._engine_seconds = Histogram(
            "consilience_engine_seconds",
            "Time until an engine's answer was read.",
            ("engine",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._calls = Counter(
            "consilience_tool_calls",
            "Calls of tools by outcome: ok, or the error's code.",
            ("tool", "outcome"),
            registry=self.registry,
        )
        self._call_seconds = Histogram(
            "consilience_tool_seconds",
            "Time of a tool call.",
            ("tool",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._flying = Gauge(
            "consilience_tool_calls_in_flight",
            "Tool calls that run now.",
            registry=self.registry,
        )

        self._requests = Counter(
            "consilience_http_requests",
            "HTTP requests by address and status.",
            ("route", "status"),
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "consilience_http_seconds",
            "Time until the answer to an HTTP request began.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def engine(self, report: EngineReport) -> None:
        """Count one engine's answer."""
        self._answers.labels(report.id, report.verdict.value).inc()
        self._engine_seconds.labels(report.id).observe(report.elapsed_ms / 1000)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an HTTP request whose answer begins."""
        self._requests.labels(route, status).inc()
        self._request_seconds.labels(route).observe(seconds)

    def started(self) -> None:
        """Count a call that begins."""
        self._flying.inc()

    def ended(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call that ended."""
        self._flying.dec()
        self._calls.labels(tool, outcome).inc()
        self._call_seconds.labels(tool).observe(seconds)

    def text(self) -> str:
        """Return everything as Prometheus text."""
        return generate_latest(self.registry).decode()
