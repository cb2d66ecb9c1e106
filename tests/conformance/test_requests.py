"""What each scraped engine is asked: first and second page, region, time, safety, one site."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest

from framework.spec.context import Variables
from framework.spec.fixtures import load_fixture
from framework.types import Query, SafeSearch, TimeRange
from tests.conformance.recordings import ROOT, engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.types import HttpRequest

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
VARIABLES = Variables(session={"home": {"sc": "CODE"}}, now=NOW)

PLAIN = Query(text="a b")
GERMAN = Query(text="a b", region="de-DE")
WEEK = Query(text="a b", time=TimeRange.WEEK)
STRICT = Query(text="a b", safe=SafeSearch.STRICT)
SITE = Query(text="a b", include_domains=("docs.example",), exclude_domains=("spam.example",))
ON_SITE = "a b site:docs.example -site:spam.example"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request taken apart; `values` are those of the query, or of the form where there is one."""

    address: str
    values: Mapping[str, str]
    cookies: Mapping[str, str] = field(default_factory=dict)


def _asked(request: HttpRequest) -> Asked:
    parts = urlsplit(request.url)
    sent = request.body.decode() if request.method == "POST" else parts.query
    values = dict(parse_qsl(sent, keep_blank_values=True))
    return Asked(f"{parts.netloc}{parts.path}", values, dict(request.cookies))


#: Engine, address, and every value of the first page's request.
FIRST = [
    ("bing", "www.bing.com/search", {"q": "a b", "mkt": "en-US"}),
    ("duckduckgo", "html.duckduckgo.com/html/", {"q": "a b", "b": "", "kl": "wt-wt"}),
    ("duckduckgo-lite", "lite.duckduckgo.com/lite/", {"q": "a b", "kl": "wt-wt"}),
    ("brave", "search.brave.com/search", {"q": "a b", "source": "web"}),
    ("mojeek", "www.mojeek.com/search", {"q": "a b"}),
    (
        "startpage",
        "www.startpage.com/sp/search",
        {
            "query": "a b",
            "cat": "web",
            "t": "device",
            "sc": "CODE",
            "lui": "english",
            "abd": "0",
            "abe": "0",
            "qsr": "all",
        },
    ),
    ("yahoo", "search.yahoo.com/search", {"p": "a b"}),
    ("ecosia", "www.ecosia.org/search", {"method": "index", "q": "a b"}),
    ("google", "www.google.com/search", {"q": "a b"}),
    ("yandex", "yandex.com/search/", {"text": "a b"}),
    ("baidu", "www.baidu.com/s", {"wd": "a b", "ie": "utf-8", "rn": "10"}),
    (
        "qwant",
        "api.qwant.com/v3/search/web",
        {
            "q": "a b",
            "count": "10",
            "locale": "en_US",
            "offset": "0",
            "tgp": "3",
            "device": "desktop",
            "safesearch": "1",
            "displayed": "true",
            "llm": "false",
        },
    ),
]


@pytest.mark.parametrize(("name", "address", "values"), FIRST, ids=lambda x: str(x)[:20])
def test_first_page_sends_this_and_nothing_else(
    name: str, address: str, values: dict[str, str]
) -> None:
    asked = _asked(engine(name).plan(PLAIN, 1, VARIABLES))

    assert asked.address == address
    assert asked.values == values


#: Engine, page, and the values that ask for it.
PAGES = [
    ("bing", 2, {"first": "11", "FORM": "PORE"}),
    ("bing", 3, {"first": "21", "FORM": "PORE"}),
    ("brave", 2, {"offset": "1", "spellcheck": "0"}),
    ("brave", 10, {"offset": "9", "spellcheck": "0"}),
    ("mojeek", 2, {"s": "11"}),
    ("mojeek", 3, {"s": "21"}),
    ("startpage", 2, {"page": "2", "segment": "startpage.udog", "sc": "CODE"}),
    ("yahoo", 2, {"b": "8", "pz": "7", "bct": "0", "xargs": "0"}),
    ("yahoo", 3, {"b": "15"}),
    ("ecosia", 2, {"p": "1"}),
    ("google", 2, {"start": "10"}),
    ("yandex", 2, {"p": "1"}),
    ("baidu", 2, {"pn": "10"}),
    ("qwant", 2, {"offset": "10"}),
]


@pytest.mark.parametrize(("name", "page", "values"), PAGES, ids=lambda x: str(x)[:20])
def test_later_pages(name: str, page: int, values: dict[str, str]) -> None:
    asked = _asked(engine(name).plan(PLAIN, page, VARIABLES))

    assert asked.values.items() >= values.items()


#: Engine, question, and what it adds to values and cookies.
INPUTS: list[tuple[str, Query, dict[str, str], dict[str, str]]] = [
    ("bing", GERMAN, {"mkt": "de-DE"}, {}),
    ("duckduckgo", GERMAN, {"kl": "de-de"}, {"kl": "de-de"}),
    ("duckduckgo-lite", GERMAN, {"kl": "de-de"}, {"kl": "de-de"}),
    ("brave", GERMAN, {}, {"country": "de", "ui_lang": "de-de", "useLocation": "0"}),
    ("mojeek", GERMAN, {}, {"lb": "de", "arc": "DE"}),
    (
        "startpage",
        GERMAN,
        {},
        {"preferences": "search_results_regionEEEde_DEN1Nlanguage_uiEEEenglish"},
    ),
    ("yahoo", GERMAN, {}, {"sB": "v=1&pn=7&rw=new&sh=1&vm=i&fl=1&vl=lang_de"}),
    ("ecosia", GERMAN, {}, {"ECFG": "mc=de-de"}),
    ("google", GERMAN, {"hl": "de", "lr": "lang_de", "cr": "countryDE"}, {"CONSENT": "YES+"}),
    ("yandex", GERMAN, {"lr": "96", "lang": "de"}, {}),
    ("qwant", GERMAN, {"locale": "de_DE"}, {}),
    ("bing", WEEK, {"filters": 'ex1:"ez2"'}, {}),
    (
        "bing",
        Query(text="a b", time=TimeRange.YEAR),
        {"filters": 'ex1:"ez5_20177_20543"'},
        {},
    ),
    ("duckduckgo", WEEK, {"df": "w"}, {"df": "w"}),
    ("duckduckgo-lite", WEEK, {"df": "w"}, {"df": "w"}),
    ("brave", WEEK, {"tf": "pw"}, {}),
    ("mojeek", WEEK, {"since": "20260324"}, {}),
    ("startpage", WEEK, {"with_date": "w"}, {}),
    ("yahoo", WEEK, {"btf": "w"}, {}),
    ("google", WEEK, {"tbs": "qdr:w"}, {}),
    ("baidu", WEEK, {"gpc": "stf=1774353600,1774958400|stftype=1"}, {}),
    ("bing", STRICT, {"adlt": "strict"}, {}),
    ("brave", STRICT, {}, {"safesearch": "strict"}),
    ("mojeek", STRICT, {"safe": "1"}, {}),
    ("startpage", STRICT, {"qadf": "heavy"}, {}),
    ("yahoo", STRICT, {"vm": "r"}, {}),
    ("google", STRICT, {"safe": "high"}, {}),
    ("yandex", STRICT, {}, {"yp": "2147483647.sp.family%3A2"}),
    ("qwant", STRICT, {"safesearch": "2"}, {}),
    *[
        (name, SITE, {word: ON_SITE}, {})
        for name, word in [
            ("bing", "q"),
            ("duckduckgo", "q"),
            ("duckduckgo-lite", "q"),
            ("brave", "q"),
            ("mojeek", "q"),
            ("startpage", "query"),
            ("yahoo", "p"),
            ("ecosia", "q"),
            ("google", "q"),
            ("yandex", "text"),
            ("baidu", "wd"),
            ("qwant", "q"),
        ]
    ],
]


@pytest.mark.parametrize(("name", "query", "values", "cookies"), INPUTS)
def test_what_is_asked_for_is_sent(
    name: str, query: Query, values: dict[str, str], cookies: dict[str, str]
) -> None:
    asked = _asked(engine(name).plan(query, 1, VARIABLES))

    assert asked.values.items() >= values.items()
    assert asked.cookies.items() >= cookies.items()


def test_qwant_is_asked_in_the_order_that_it_insists_on() -> None:
    request = engine("qwant").plan(GERMAN, 2, VARIABLES)
    order = ["q", "count", "locale", "offset", "tgp", "device", "safesearch", "displayed", "llm"]

    assert [name for name, _ in parse_qsl(urlsplit(request.url).query)] == order


def test_startpage_reads_its_code_from_the_home_page() -> None:
    startpage = engine("startpage")
    (step,) = startpage.steps

    assert _asked(startpage.plan_step(step, PLAIN)).address == "www.startpage.com/"
    assert step.scope == "proxy"


@pytest.mark.parametrize("name", ["duckduckgo", "duckduckgo-lite"])
def test_duckduckgo_is_asked_on_with_the_form_of_its_own_page(name: str) -> None:
    found = engine(name)
    first = load_fixture(ROOT / "fixtures" / name / "ok")
    page = found.read(first.response)
    assert page.next is not None
    request = found.plan_next(GERMAN, page.next)
    assert request is not None
    asked = _asked(request)

    assert request.method == "POST"
    assert asked.address == _asked(found.plan(GERMAN)).address
    assert asked.values["q"] == "javascript tutorial"
    assert asked.values["s"] == "10"
    assert asked.values["vqd"] == "4-000fixture000"
    assert asked.cookies["kl"] == "de-de"


def test_the_last_page_announces_no_other() -> None:
    found = engine("duckduckgo")
    last = load_fixture(ROOT / "fixtures" / "duckduckgo" / "no-more")

    assert found.read(last.response).next is None


@pytest.mark.parametrize(("name", "most"), [("duckduckgo", 499), ("mojeek", 256), ("baidu", 76)])
def test_long_queries_are_cut_at_a_word(name: str, most: int) -> None:
    asked = _asked(engine(name).plan(Query(text="word " * 200), 1, VARIABLES))
    sent = next(value for value in asked.values.values() if value.startswith("word"))

    assert most - 5 <= len(sent) <= most
    assert sent.endswith("word")


@pytest.mark.parametrize("name", ["bing", "duckduckgo", "brave", "startpage", "yahoo", "ecosia"])
def test_regions_cover_the_major_locales(name: str) -> None:
    wanted = [
        "en-US",
        "en-GB",
        "de-DE",
        "fr-FR",
        "es-ES",
        "it-IT",
        "pt-BR",
        "nl-NL",
        "pl-PL",
        "sv-SE",
        "da-DK",
        "fi-FI",
        "ja-JP",
    ]
    declared = engine(name).spec.inputs.region

    assert declared is not None
    assert set(wanted) <= set(declared.map)
