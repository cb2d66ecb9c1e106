"""Instant start: an MCP client's first requests are answered while the server is still loading.

Loading the SDK and the crawler takes a second, and hosts start every server at launch. A `Front`
reads the pipe in a thread of its own, with the standard library only, and answers `initialize`,
`ping`, `server/discover` and `tools/list` from a snapshot of what the full server would say
(`server/snapshot.json`, written by `make snapshot`). The main thread loads meanwhile.

The first line that is anything else ends that: it and all behind it stay unread, in order, for
the full server, which also hears again, with its answer muted, what brought the connection into
its protocol era. So there is one place that judges lines, and this file never refuses one.
"""

from __future__ import annotations

import json
import os
import select
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

__all__ = ["Conversation", "Front", "Handover", "start"]

SNAPSHOT: Final = os.path.join(os.path.dirname(__file__), "snapshot.json")  # noqa: PTH118, PTH120

_LONGEST = 1024 * 1024
_ENVELOPE = "io.modelcontextprotocol/"
_VERSION, _ABILITIES, _CLIENT = (
    _ENVELOPE + name for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
_TOOL_VARIABLES = ("CONSILIENCE_TOOLS", "WEBFETCH_MCP_TOOL_MODE")


class Handover:
    """What the full server starts from: input it reads first, ids whose first answer it mutes."""

    __slots__ = ("first", "muted")

    def __init__(self, first: bytes = b"", muted: Sequence[int | str] = ()) -> None:
        self.first = first
        self.muted = tuple(muted)


class Conversation:
    """One connection's requests as far as a snapshot can answer them."""

    __slots__ = ("_era", "_known", "_tools", "heard", "muted")

    def __init__(self, known: Mapping[str, Any], tools: Sequence[Any]) -> None:
        self._known = known
        self._tools = tools
        self._era = ""
        self.heard: list[bytes] = []
        self.muted: list[int | str] = []

    def answer(self, line: bytes) -> bytes | None:
        """Return the line that answers `line`, nothing where none is due, None if beyond this."""
        if not line.strip():
            return b""
        message = _message(line)
        if message is None:
            return None
        method, params, number = message
        if number is None:
            return self._note(line, method)
        result = self._result(method, params)
        if result is None:
            return None
        if not self.heard:
            self.heard.append(line)
            self.muted.append(number)
        body = {"jsonrpc": "2.0", "id": number, "result": result}
        return json.dumps(body, separators=(",", ":")).encode() + b"\n"

    def _note(self, line: bytes, method: str) -> bytes | None:
        if self._era != "handshake" or method != "notifications/initialized":
            return None
        self.heard.append(line)
        return b""

    def _result(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        envelope = params.get("_meta", {})
        if not isinstance(envelope, dict):
            return None
        if method == "initialize":
            return None if self._era or _VERSION in envelope else self._initialize(params)
        if params.keys() - {"_meta"}:
            return None
        if _VERSION not in envelope:
            return self._handshake(method) if self._era == "handshake" else None
        return None if self._era == "handshake" else self._current(method, envelope)

    def _initialize(self, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        known = self._known["handshake"]
        wanted = params.get("protocolVersion")
        if not (
            isinstance(wanted, str)
            and isinstance(params.get("capabilities"), dict)
            and _is_client(params.get("clientInfo"))
        ):
            return None
        self._era = "handshake"
        version = wanted if wanted in known["versions"] else known["versions"][-1]
        return {**known["initialize"], "protocolVersion": version}

    def _handshake(self, method: str) -> Mapping[str, Any] | None:
        return {"ping": {}, "tools/list": {"tools": self._tools}}.get(method)

    def _current(self, method: str, envelope: Mapping[str, Any]) -> Mapping[str, Any] | None:
        known = self._known["current"]
        client = envelope.get(_CLIENT)
        if (
            envelope[_VERSION] != known["version"]
            or not isinstance(envelope.get(_ABILITIES), dict)
            or not (client is None or _is_client(client))
            or method not in {"server/discover", "tools/list"}
        ):
            return None
        self._era = "current"
        extra = {"tools": self._tools} if method == "tools/list" else {}
        return {**known[method], **extra}


def _message(line: bytes) -> tuple[str, dict[str, Any], int | str | None] | None:
    """Return a well-formed message's method, parameters and id (None for a notification)."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return None
    method, params, number = value.get("method"), value.get("params", {}), value.get("id")
    if not isinstance(method, str) or not isinstance(params, dict):
        return None
    if "id" in value and (isinstance(number, bool) or not isinstance(number, (int, str))):
        return None
    return method, params, number


def _is_client(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) for name in ("name", "version")
    )


class Front:
    """Answers on a pair of descriptors until `finish`; without a conversation it only waits."""

    def __init__(
        self, conversation: Conversation | None, first: bytes = b"", source: int = 0, sink: int = 1
    ) -> None:
        self._conversation = conversation
        self._left = bytearray(first)
        self._source = source
        self._sink = sink
        self._woken, self._wake = os.pipe()
        self._thread: threading.Thread | None = None
        if conversation is not None:
            self._thread = threading.Thread(target=self._run, args=(conversation,), daemon=True)
            self._thread.start()

    def finish(self) -> Handover:
        """Stop answering, and return where the full server goes on."""
        os.close(self._wake)
        if self._thread is not None:
            self._thread.join()
        os.close(self._woken)
        if self._conversation is None:
            return Handover(bytes(self._left))
        heard = b"".join(self._conversation.heard)
        return Handover(heard + self._left, self._conversation.muted)

    def _run(self, conversation: Conversation) -> None:
        while self._answered(conversation) and (chunk := self._read()):
            self._left += chunk

    def _answered(self, conversation: Conversation) -> bool:
        """Answer the whole lines that are there; False where one of them is beyond this."""
        while end := self._left.find(b"\n") + 1:
            answer = conversation.answer(bytes(self._left[:end]))
            if answer is None:
                return False
            _write(self._sink, answer)
            del self._left[:end]
        return len(self._left) < _LONGEST

    def _read(self) -> bytes:
        """Wait for input; return none when told to finish, or at its end."""
        ready, _, _ = select.select([self._source, self._woken], [], [])
        if self._woken in ready:
            return b""
        try:
            chunk = os.read(self._source, 65_536)
        except ConnectionError:
            chunk = b""
        if not chunk and not self._left:
            os._exit(0)
        return chunk


def _write(sink: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(sink, data) :]
    except OSError:
        os._exit(0)


def start(
    arguments: Sequence[str], environment: Mapping[str, str], first: bytes = b"", source: int = 0
) -> Front:
    """Answer standard input from now on, as far as the snapshot fits these arguments.

    `first` is input that was read before. SIGTERM and SIGINT end the process with status 0 until
    the full server has handlers of its own: nothing is open before.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    return Front(_conversation(arguments, environment, source), first, source)


def _leave(_number: int, _frame: object) -> None:
    os._exit(0)


def _conversation(
    arguments: Sequence[str], environment: Mapping[str, str], source: int
) -> Conversation | None:
    wanted = _wanted(arguments)
    helping = "--help" in arguments or "-h" in arguments
    if wanted is None or helping or os.isatty(source) or _chosen_elsewhere(environment):
        return None
    try:
        with open(SNAPSHOT, encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs its import
            known = json.load(file)
    except (OSError, ValueError):
        return None
    if wanted == ["compact"]:
        return Conversation(known, known["compact"])
    tools = [tool for tool in known["full"] if not wanted or tool["name"] in wanted]
    return Conversation(known, tools) if len(tools) == len(set(wanted)) or not wanted else None


def _wanted(arguments: Sequence[str]) -> list[str] | None:
    """Return the tools that the options choose, none for all; None for what is not known here."""
    chosen: list[str] = []
    for place, option in enumerate(arguments):
        name, equals, value = option.partition("=")
        if name == "--tools":
            words = value if equals else "".join(arguments[place + 1 : place + 2])
            chosen = [word.strip() for word in words.split(",") if word.strip()]
    if "--compact" not in arguments:
        return chosen
    return None if chosen else ["compact"]


def _chosen_elsewhere(environment: Mapping[str, str]) -> bool:
    """Whether a variable, or a `.env` file here, chooses the tools."""
    if any(environment.get(name) for name in _TOOL_VARIABLES):
        return True
    try:
        with open(".env", "rb") as file:  # noqa: PTH123
            text = file.read()
    except OSError:
        return False
    return any(name.encode() in text for name in _TOOL_VARIABLES)
