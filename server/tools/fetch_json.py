"""The tool `fetch_json`: an interface's answer as data, never broken by a cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jmespath
from pydantic import Field, field_validator

from framework.errors import ConsilienceError, InvalidInputError
from framework.reading.jsoncut import cut
from server.pages import PageRequest
from server.tools.base import Arguments, Call, Output, Reply, Tool, untrusted

if TYPE_CHECKING:
    from framework.reading.document import Json
    from server.app import Application

__all__ = ["TOOL", "JsonArguments", "JsonOutput"]

#: Headers that a caller may not set: they are ours, or would carry credentials over a shared proxy.
_REFUSED = frozenset(
    {"cookie", "host", "connection", "content-length", "transfer-encoding", "proxy-authorization"}
)


class JsonArguments(Arguments):
    """What to fetch and which part of it to return."""

    url: str = Field(min_length=1, max_length=4_000)
    jmes: str | None = Field(
        default=None, max_length=1_000, description="JMESPath of the part to return"
    )
    headers: dict[str, str] = Field(default_factory=dict, max_length=20)
    max_bytes: int = Field(default=50_000, ge=500, le=4_000_000)
    timeout: float = Field(default=20, ge=1, le=60, description="Seconds")

    @field_validator("jmes")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            if value is not None:
                jmespath.compile(value)
        except jmespath.exceptions.JMESPathError as error:
            raise ValueError(f"valid JMESPath ({str(error).splitlines()[0]})") from None
        return value

    @field_validator("headers")
    @classmethod
    def _allowed(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if name.lower() in _REFUSED:
                raise ValueError(f"headers without {name}")
            if any(ord(letter) < 32 for letter in name + text):
                raise ValueError(f"headers without control characters (in {name[:40]!r})")
        return value


class JsonOutput(Output):
    """The answer, or a part of it; a cut leaves out whole elements and says so."""

    url: str = ""
    status: int = 0
    json_: Any = Field(default=None, alias="json")
    truncated: bool = False


async def _run(app: Application, given: JsonArguments, call: Call) -> Reply[JsonOutput]:
    request = PageRequest(
        url=given.url,
        render="never",
        timeout=given.timeout,
        headers=(("Accept", "application/json"), *given.headers.items()),
    )
    response = await app.fetch_page(request)
    value = _picked(_parsed(response.body, response.url), given.jmes)
    kept, truncated = cut(value, given.max_bytes)
    data = JsonOutput(url=response.url, status=response.status, json=kept, truncated=truncated)
    shown = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    text = f"{response.status} {untrusted(shown, response.url)}"
    if truncated:
        text += "\n[Cut by max_bytes; jmes picks a part]"
    return Reply(text, data)


def _parsed(body: bytes, url: str) -> Json:
    try:
        value: Json = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ConsilienceError(
            f"{url} did not answer with JSON",
            code="not_json",
            hint="web_fetch reads pages of other types",
        ) from error
    return value


def _picked(value: Json, path: str | None) -> Json:
    if path is None:
        return value
    try:
        found: Json = jmespath.search(path, value)
    except jmespath.exceptions.JMESPathError as error:
        raise InvalidInputError(f"jmes: {str(error).splitlines()[0]}") from None
    return found


TOOL = Tool(
    name="fetch_json",
    title="Fetch JSON",
    description=(
        "Fetch a JSON interface and return the data, or with jmes the part of it that you need. "
        "Answers that are too long lose whole elements, so they stay valid."
    ),
    arguments=JsonArguments,
    output=JsonOutput,
    run=_run,
)
