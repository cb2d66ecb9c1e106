"""HTTP requests are counted by labels that no client can make up."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from server.http.counting import Counting, label
from server.metrics import Metrics

PATHS = ("/", "/mcp", "/download/{id}")


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/", "/"),
        ("/mcp", "/mcp"),
        ("/download/abc", "/download/{id}"),
        ("/download/{id}", "/download/{id}"),
        ("/download/a/b", "other"),
        ("/download", "other"),
        ("/mcp/", "other"),
        ("/nowhere", "other"),
        ("", "other"),
    ],
)
def test_a_label_is_a_route_or_other(path: str, route: str) -> None:
    assert label(path, PATHS) == route


def test_each_answer_is_counted_once_with_its_status() -> None:
    async def fine(_request: object) -> Response:
        return PlainTextResponse("fine")

    metrics = Metrics()
    app = Starlette(
        routes=[Route("/", fine)], middleware=[Middleware(Counting, metrics=metrics, paths=["/"])]
    )
    client = TestClient(app)
    for path in ("/", "/", "/nowhere"):
        client.get(path)
    text = metrics.text()

    assert 'consilience_http_requests_total{route="/",status="200"} 2.0' in text
    assert 'consilience_http_requests_total{route="other",status="404"} 1.0' in text
    assert 'consilience_http_seconds_count{route="/"} 2.0' in text
