"""Who answers prompts, and how an endpoint is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import aiohttp
import pytest
from werkzeug import Request, Response

from framework.errors import ConsilienceError, UnavailableError
from framework.llm import Prompt
from framework.types import HttpRequest, HttpResponse
from server.config import Environment, load
from server.llm import EndpointLLM, configured, resolve

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer

PROMPT = Prompt(system="Judge.", user="Which?", schema={"type": "array"})
PATH = "/v1/chat/completions"


@pytest.mark.parametrize(
    ("sampling", "client", "api", "skip", "expected"),
    [
        (True, True, True, False, "client"),
        (True, True, False, False, "client"),
        (True, True, False, True, "client"),
        (True, False, True, False, "api"),
        (True, False, True, True, "api"),
        (True, True, True, True, "api"),
        (True, False, False, False, "none"),
        (True, False, False, True, "none"),
        (False, True, True, False, "none"),
        (False, False, True, True, "none"),
    ],
)
def test_who_answers(sampling: bool, client: bool, api: bool, skip: bool, expected: str) -> None:
    assert resolve(sampling=sampling, client=client, api=api, skip_client=skip) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, False),
        ({"LLM_BASE_URL": "http://127.0.0.1:1"}, False),
        ({"LLM_BASE_URL": "http://127.0.0.1:1", "LLM_NAME": "m"}, True),
    ],
)
def test_an_endpoint_needs_address_and_model(values: dict[str, str], expected: bool) -> None:
    assert configured(load(Environment(values))) is expected


async def send(request: HttpRequest, timeout: float) -> HttpResponse:
    limit = aiohttp.ClientTimeout(total=timeout)
    async with (
        aiohttp.ClientSession(timeout=limit) as session,
        session.request(
            request.method, request.url, data=request.body, headers=list(request.headers)
        ) as answer,
    ):
        return HttpResponse(
            url=request.url,
            status=answer.status,
            headers=tuple(answer.headers.items()),
            body=await answer.read(),
        )


def llm(server: HTTPServer, key: str | None = None) -> EndpointLLM:
    return EndpointLLM(
        base_url=server.url_for("/v1"), model="tiny", send=send, key=key, pauses=(0, 0)
    )


def chat(text: str) -> dict[str, object]:
    return {
        "model": "tiny-1",
        "choices": [{"message": {"content": text}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
    }


async def test_an_answer_with_its_tokens(httpserver: HTTPServer) -> None:
    httpserver.expect_request(PATH, method="POST").respond_with_json(chat("[1]"))

    answer = await llm(httpserver, key="sk-1").complete(PROMPT)

    assert (answer.text, answer.model) == ("[1]", "tiny-1")
    assert (answer.prompt_tokens, answer.completion_tokens) == (7, 2)
    request = httpserver.log[0][0]
    assert request.headers["Authorization"] == "Bearer sk-1"
    body = json.loads(request.get_data())
    assert body["temperature"] == 0
    assert body["response_format"]["json_schema"]["schema"] == {"type": "array"}


async def test_transient_failures_are_tried_again(httpserver: HTTPServer) -> None:
    for status in (429, 503):
        httpserver.expect_ordered_request(PATH).respond_with_data("", status=status)
    httpserver.expect_ordered_request(PATH).respond_with_json(chat("ok"))

    assert (await llm(httpserver).complete(PROMPT)).text == "ok"


async def test_three_failures_are_the_last(httpserver: HTTPServer) -> None:
    httpserver.expect_request(PATH).respond_with_data("", status=503)

    with pytest.raises(UnavailableError, match="failed 3 times, at last: status 503"):
        await llm(httpserver).complete(PROMPT)

    assert len(httpserver.log) == 3


async def test_a_refusal_is_not_repeated_and_says_what_to_check(httpserver: HTTPServer) -> None:
    httpserver.expect_request(PATH).respond_with_data("", status=401)

    with pytest.raises(ConsilienceError, match="LLM_API_KEY") as caught:
        await llm(httpserver, key="sk-secret").complete(PROMPT)

    assert len(httpserver.log) == 1
    assert "sk-secret" not in str(caught.value)
    assert "sk-secret" not in repr(llm(httpserver, key="sk-secret"))


async def test_a_schema_that_is_refused_goes_as_words(httpserver: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        body = json.loads(request.get_data())
        if "response_format" in body:
            return Response(status=400)
        assert '{"type": "array"}' in body["messages"][0]["content"]
        return Response(json.dumps(chat("[]")), mimetype="application/json")

    httpserver.expect_request(PATH).respond_with_handler(answer)

    assert (await llm(httpserver).complete(PROMPT)).text == "[]"


@pytest.mark.parametrize(
    "body",
    ["", "[]", "null", '{"choices": []}', '{"choices": [{"message": {"content": null}}]}', "<p>"],
)
async def test_what_is_no_completion_is_said(httpserver: HTTPServer, body: str) -> None:
    httpserver.expect_request(PATH).respond_with_data(body)

    with pytest.raises(UnavailableError, match="no chat completion"):
        await llm(httpserver).complete(PROMPT)
