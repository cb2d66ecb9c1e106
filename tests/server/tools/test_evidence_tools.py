"""Evidence from pages: context, extraction, verification, research, over a local site."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from framework.errors import InvalidInputError, UnavailableError
from framework.reading import tokens
from server.app import Application
from server.config import Environment
from server.tools import web_context, web_extract, web_research, web_verify
from server.tools.base import Call, Reply, parse
from tests.support.site import Reply as Answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from server.tools.base import Tool
    from tests.support.site import Site

TIDES = """<html lang=en><head><title>Tides at Westport</title>
<script type="application/ld+json">{"@type": "Product", "name": "Tide clock",
"offers": {"price": "49.90", "priceCurrency": "EUR"}}</script></head><body><article>
<h1>Tides at Westport</h1>
<h2>Range</h2><p>The spring tide at Westport rises 6.4 metres above low water, the highest of the
whole coast, and pilots wait for it.</p>
<h2>Harbour</h2><p>The harbour was opened in 1871 and has two basins for fishing boats.</p>
<h2>Food</h2><p>Fishermen sell plaice and sole on the quay from six in the morning.</p>
<table><tr><th>Month</th><th>High water</th></tr><tr><td>May</td><td>5.9 m</td></tr></table>
</article></body></html>"""
OTHER = """<html lang=en><head><title>Coast pilot</title></head><body><article>
<h1>Coast pilot</h1><p>Westport has the highest spring tide of the coast: it rises 6.4 metres above
low water.</p><p>The harbour of Westport was not opened before 1890.</p></article></body></html>"""
ENGINE = """\
schema: 1
id: local
name: Local
kind: web
status: experimental
settings: {{base: {{env: LOCAL_BASE}}}}
request: {{url: "{{{{ settings.base }}}}/search", query: {{q: "{{{{ query }}}}"}}}}
response: {{format: json, rows: {{each: "[]"}}, fields: {{title: title, url: url}}}}
fetch: {{mode: http}}
"""


def page(text: str) -> Answer:
    return Answer(headers={"Content-Type": "text/html; charset=utf-8"}, body=text.encode())


@pytest.fixture(autouse=True)
def pages(site: Site) -> None:
    found = [
        {"title": "Tides at Westport", "url": site.url("/tides")},
        {"title": "Coast pilot of Westport tides", "url": site.url("/other")},
        {"title": "Westport tide, gone", "url": site.url("/gone")},
    ]
    site.routes |= {
        "/tides": page(TIDES),
        "/other": page(OTHER),
        "/gone": Answer(status=404),
        "/search": Answer(
            headers={"Content-Type": "application/json"}, body=json.dumps(found).encode()
        ),
    }


@pytest.fixture
async def searching(tmp_path: Path, site: Site) -> AsyncIterator[Application]:
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "local.yaml").write_text(ENGINE.format())
    environment = Environment(
        {
            "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
            "CONSILIENCE_STATE_DIR": str(tmp_path / "state"),
            "CONSILIENCE_ENGINES_DIR": str(folder),
            "CONSILIENCE_ENGINES": "local",
            "LOCAL_BASE": site.url("").rstrip("/"),
        }
    )
    async with Application.create(environment=environment) as app:
        yield app


async def run(tool: Tool[Any, Any], app: Application, **arguments: object) -> Reply[Any]:
    reply: Reply[Any] = await tool.run(app, parse(tool, arguments), Call())
    return reply


async def test_context_gives_the_passages_for_a_task_with_their_places(
    app: Application, site: Site
) -> None:
    reply = await run(
        web_context.TOOL, app, url=site.url("/tides"), task="How high is the spring tide?"
    )
    data = reply.data
    best = data.evidence_chunks[0]

    assert "6.4 metres" in best.text
    assert best.section_path[-1] == "Range"
    assert best.dom_path
    assert best.text_fragment_url.startswith(site.url("/tides") + "#:~:text=")
    assert data.retrieval_confidence.level in {"medium", "high"}
    assert data.tokens.returned <= 1_800
    assert "bm25" in data.ranking.methods
    assert data.structured_data["json_ld"][0]["name"] == "Tide clock"


async def test_context_is_not_sure_of_a_page_about_something_else(
    app: Application, site: Site
) -> None:
    reply = await run(
        web_context.TOOL, app, url=site.url("/tides"), task="Who invented the transistor?"
    )

    assert reply.data.retrieval_confidence.level == "low"
    assert reply.data.retrieval_confidence.suggestion


async def test_context_keeps_its_budget(app: Application, site: Site) -> None:
    reply = await run(
        web_context.TOOL, app, url=site.url("/tides"), task="Westport harbour", max_tokens=200
    )

    texts = [one.text for one in reply.data.evidence_chunks]
    assert sum(tokens.count(text) for text in texts) <= 200


async def test_extract_takes_values_from_the_page_alone(app: Application, site: Site) -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "price": {"type": "number"},
            "colour": {"type": "string"},
        },
    }
    reply = await run(web_extract.TOOL, app, url=site.url("/tides"), schema=schema)

    assert reply.data.data["price"] == 49.9
    assert reply.data.data["name"] == "Tide clock"
    assert reply.data.unfilled == ("colour",)
    assert {one.source for one in reply.data.evidence} == {"json_ld"}


def chat(*fields: Mapping[str, object]) -> Answer:
    text = json.dumps({"fields": fields})
    body = {"model": "tiny", "choices": [{"message": {"content": text}}]}
    return Answer(headers={"Content-Type": "application/json"}, body=json.dumps(body).encode())


@pytest.fixture
async def sampling(tmp_path: Path, site: Site) -> AsyncIterator[Application]:
    """An application whose operator set up a model and turned sampling on."""
    environment = Environment(
        {
            "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
            "CONSILIENCE_STATE_DIR": str(tmp_path / "sampling"),
            "SAMPLING": "true",
            "LLM_BASE_URL": site.url("/v1"),
            "LLM_NAME": "tiny",
        }
    )
    async with Application.create(environment=environment) as app:
        yield app


OPENED = {"path": "opened", "value": "1871", "quote": "The harbour was opened in 1871"}
TALL = {"path": "tower", "value": "40 metres", "quote": "The tower is 40 metres tall"}


async def test_extract_lets_a_model_look_for_what_is_missing(
    sampling: Application, site: Site
) -> None:
    site.routes["/v1/chat/completions"] = chat(OPENED, TALL)
    schema = {"price": 0.0, "opened": 0, "tower": ""}
    reply = await run(web_extract.TOOL, sampling, url=site.url("/tides"), schema=schema)

    assert reply.data.data == {"price": 49.9, "opened": 1871}
    assert reply.data.unfilled == ("tower",)
    assert [one.source for one in reply.data.evidence] == ["json_ld", "model"]
    assert "model: 1 of 2 missing fields" in reply.data.method
    assert reply.data.method in reply.text
    (asked,) = (seen for seen in site.seen if seen.path == "/v1/chat/completions")
    assert b"1871" in asked.body


async def test_extract_does_without_a_model_that_fails(sampling: Application, site: Site) -> None:
    site.routes["/v1/chat/completions"] = Answer(status=401)
    schema = {"price": 0.0, "opened": 0}
    reply = await run(web_extract.TOOL, sampling, url=site.url("/tides"), schema=schema)

    assert reply.data.data == {"price": 49.9}
    assert reply.data.unfilled == ("opened",)
    assert reply.data.method.startswith("page; ")


async def test_extract_asks_no_model_where_nothing_is_missing_or_sampling_is_off(
    sampling: Application, app: Application, site: Site
) -> None:
    site.routes["/v1/chat/completions"] = chat(OPENED)
    full = await run(web_extract.TOOL, sampling, url=site.url("/tides"), schema={"price": 0.0})
    off = await run(web_extract.TOOL, app, url=site.url("/tides"), schema={"opened": 0})

    assert full.data.method == off.data.method == "page"
    assert off.data.unfilled == ("opened",)
    assert all(seen.path != "/v1/chat/completions" for seen in site.seen)


async def test_a_false_claim_is_never_supported(app: Application, site: Site) -> None:
    urls = [site.url("/tides"), site.url("/other")]
    true = await run(
        web_verify.TOOL, app, claim="The spring tide at Westport rises 6.4 metres.", sources=urls
    )
    false = await run(
        web_verify.TOOL, app, claim="The spring tide at Westport rises 9.8 metres.", sources=urls
    )

    assert true.data.verdict in {"supported", "unclear"}
    assert false.data.verdict in {"refuted", "unclear"}
    assert true.data.method
    assert all(quote.text for source in true.data.sources for quote in source.quotes)


async def test_verify_searches_where_no_sources_are_given(searching: Application) -> None:
    reply = await run(
        web_verify.TOOL, searching, claim="The spring tide at Westport rises 6.4 metres."
    )
    read = [source for source in reply.data.sources if source.error is None]

    assert len(read) == 2
    assert [source.error.code for source in reply.data.sources if source.error] == ["http_status"]


async def test_research_weighs_several_sources(searching: Application, site: Site) -> None:
    reply = await run(
        web_research.TOOL, searching, query="How high is the spring tide at Westport?"
    )
    data = reply.data

    assert [source.error is None for source in data.sources] == [True, True, False]
    assert "6.4 metres" in data.ranked_evidence[0].text
    assert data.token_budget.returned <= data.token_budget.limit
    assert 0 <= data.agreement.score <= 1
    assert data.agreement.method


async def test_sources_that_cannot_be_read_are_an_error_with_each_reason(
    app: Application, site: Site
) -> None:
    urls = [site.url("/gone"), site.url("/none")]

    with pytest.raises(UnavailableError) as caught:
        await run(web_verify.TOOL, app, claim="Anything at all.", sources=urls)

    assert all(url in str(caught.value) for url in urls)


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        (web_context.TOOL, {"url": "https://a.example"}, "task: .*required"),
        (web_context.TOOL, {"url": "https://a.example", "task": "a", "max_tokens": 10}, "200"),
        (web_verify.TOOL, {"claim": "ab"}, "claim"),
        (web_verify.TOOL, {"claim": "abc", "sources": ["https://a.example"] * 11}, "sources"),
        (web_extract.TOOL, {"url": "https://a.example", "schema": {}}, "schema"),
        (web_research.TOOL, {"query": "a", "depth": 9}, "depth: .*1 to 8"),
    ],
)
def test_wrong_arguments(tool: Tool[Any, Any], arguments: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidInputError, match=word):
        parse(tool, arguments)
