"""Strategies for what a broken or hostile client sends: messages, lines and HTTP requests."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.support.mcp_pipe import META

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["lines", "requests"]

Draw = Any


def _call(tool: str, **arguments: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return {"method": "tools/call", "params": params}


#: Sound messages, or such as are refused, that need no network.
SEEDS: tuple[dict[str, Any], ...] = (
    {"method": "server/discover", "params": {"_meta": META}},
    {"method": "tools/list", "params": {"_meta": META}},
    {"method": "prompts/list", "params": {"_meta": META}},
    {"method": "resources/templates/list", "params": {"_meta": META}},
    {"method": "prompts/get", "params": {"name": "research_a_topic", "_meta": META}},
    {"method": "resources/read", "params": {"uri": "consilience://engines", "_meta": META}},
    {"method": "resources/read", "params": {"uri": "consilience://page/0a", "_meta": META}},
    {"method": "completion/complete", "params": {"ref": {}, "argument": {}, "_meta": META}},
    {
        "method": "completion/complete",
        "params": {
            "ref": {"type": "ref/resource", "uri": "consilience://engine/{id}"},
            "argument": {"name": "id", "value": "b"},
            "_meta": META,
        },
    },
    {"method": "ping"},
    {"method": "logging/setLevel", "params": {"level": "debug"}},
    {"method": "notifications/cancelled", "params": {"requestId": 1}},
    {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
    {"result": {"roots": []}},
    {"error": {"code": -1, "message": "no"}},
    _call("get_engines"),
    _call("set_engines", engines=["bing"]),
    _call("get_sampling"),
    _call("set_sampling", enabled=True),
    _call("web_search", query="", max_results=5, engines=["bing"]),
    _call("web_fetch", url="ftp://example.org/", max_chars=100),
    _call("extract_links", url="http://[", scope="all"),
    _call("fetch_json", url="http://", jmes="a["),
    _call("web_context", url="//", task="find"),
    _call("web_research", query="", depth=2),
    _call("web_verify", claim="", sources=["x"]),
    _call("web_extract", url="data:,", schema={"type": "object"}),
    _call("search_deep", objective="short", max_loops=1),
)

_ODD: st.SearchStrategy[Any] = st.sampled_from(
    (
        None, True, -1, 2**80, 1e308, "", "\x00", "\ud800", "𝔘" * 50, [], [[]], {}, {"a": {}},
        "../../etc/passwd", "consilience://engine/../../x", "x" * 5_000, "2026-07-28", META,
    )
)  # fmt: skip
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
JUNK = _ODD | _JSON


@st.composite
def messages(draw: Draw) -> dict[str, Any]:
    """A message, up to three of whose parts are exchanged, dropped or added."""
    seed = copy.deepcopy(draw(st.sampled_from(SEEDS)))
    message = {"jsonrpc": "2.0", "id": draw(st.integers(0, 10_000) | st.text(max_size=3)), **seed}
    for _ in range(draw(st.integers(0, 3))):
        _exchange(draw, message)
    return message


def _exchange(draw: Draw, message: dict[str, Any]) -> None:
    inner = message
    while deeper := [value for value in inner.values() if isinstance(value, dict) and value]:
        if not draw(st.booleans()):
            break
        inner = draw(st.sampled_from(deeper))
    key = draw(st.sampled_from([*inner, "extra"]))
    if draw(st.integers(0, 3)) == 0:
        inner.pop(key, None)
    else:
        inner[key] = copy.deepcopy(draw(JUNK))


@st.composite
def _broken(draw: Draw, whole: bytes) -> bytes:
    """Some bytes of `whole` exchanged, cut or doubled."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        draw(st.sampled_from(_TWISTS))(draw, data, at)
    return bytes(data)


def _flip(draw: Draw, data: bytearray, at: int) -> None:
    data[at : at + 1] = bytes([draw(st.integers(0, 255))])


def _cut(draw: Draw, data: bytearray, at: int) -> None:
    del data[at : at + draw(st.integers(1, 30))]


def _double(draw: Draw, data: bytearray, at: int) -> None:
    data[at:at] = data[at : at + draw(st.integers(1, 30))]


_TWISTS: tuple[Callable[[Draw, bytearray, int], None], ...] = (_flip, _cut, _double)


def _bodies() -> st.SearchStrategy[bytes]:
    sound = messages().map(lambda message: json.dumps(message).encode())
    return sound | sound.flatmap(_broken) | st.binary(max_size=60)


def lines() -> st.SearchStrategy[bytes]:
    """One line for the stdio server, without its end."""
    return _bodies().map(lambda body: body.replace(b"\n", b" "))


_TARGETS = (
    b"/mcp?tools=%00", b"/mcp?tools=web_search", b"/mcp?tools=compact&tools=x", b"/search?q=%ff",
    b"/search?q=", b"/search?q=a&pageno=-1&time_range=never", b"/search", b"/download/..%2f..%2fx",
    b"/read?url=file:///etc/passwd", b"/read", b"/metrics?x=1", b"//x", b"/%00", b"/", b"/page",
    b"/status", b"/openapi.json", b"/login", b"*", b"http://localhost/mcp",
)  # fmt: skip
_FIELDS: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (b"Accept", (b"application/json", b"text/event-stream", b"*/*", b"text/html", b"")),
    (b"Content-Type", (b"application/json", b"text/plain", b"application/json; charset=\xe9")),
    (b"MCP-Protocol-Version", (b"2026-07-28", b"2025-11-25", b"2024-11-05", b"never", b"\xff")),
    (b"Mcp-Method", (b"tools/call", b"tools/list", b"\xe9", b"x" * 3_000)),
    (b"Mcp-Name", (b"get_sampling", b"web_search", b"=?base64?????=", b"x" * 3_000)),
    (b"Mcp-Session-Id", (b"../x", b"0", b"\xe9")),
    (b"Authorization", (b"Bearer \xe9", b"Bearer", b"Basic eDp4")),
    (b"Last-Event-ID", (b"1", b"-1", b"\xe9")),
    (b"Host", (b"evil.example", b"localhost:x", b"[::1", b"")),
    (b"Origin", (b"null", b"http://evil.example", b"http://[")),
    (b"Content-Length", (b"-1", b"1", b"x", b"99999999999")),
    (b"Transfer-Encoding", (b"chunked", b"gzip")),
    (b"Cookie", (b"consilience=\xe9", b"=;;=")),
)


@st.composite
def requests(draw: Draw) -> bytes:
    """One HTTP/1.1 request as it goes over the wire; most of them reach the MCP endpoint."""
    verb = draw(st.sampled_from((b"POST",) * 6 + (b"GET", b"DELETE", b"OPTIONS", b"PUT", b"\xff")))
    target = b"/mcp" if draw(st.integers(0, 2)) else draw(st.sampled_from(_TARGETS))
    body = draw(_bodies())
    fields = {b"Host": b"localhost", b"Content-Length": b"%d" % len(body), **_usual(draw, body)}
    for name, values in draw(st.lists(st.sampled_from(_FIELDS), max_size=4)):
        fields[name] = draw(st.sampled_from(values))
    head = b"".join(name + b": " + value + b"\r\n" for name, value in fields.items())
    return b"%b %b HTTP/1.1\r\n%bConnection: close\r\n\r\n%b" % (verb, target, head, body)


def _usual(draw: Draw, body: bytes) -> dict[bytes, bytes]:
    """The headers of a well-behaved client of the current era, in half the requests."""
    if draw(st.booleans()):
        return {}
    try:
        message = json.loads(body)
        method, name = message["method"], message["params"].get("name", "")
        named = {b"Mcp-Method": method.encode(), b"Mcp-Name": name.encode()}
    except (ValueError, KeyError, TypeError, AttributeError):
        named = {}
    return {
        b"Accept": b"application/json, text/event-stream",
        b"Content-Type": b"application/json",
        b"MCP-Protocol-Version": b"2026-07-28",
        **{key: value for key, value in named.items() if b"\n" not in value},
    }
