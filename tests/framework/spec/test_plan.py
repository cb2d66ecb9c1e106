"""From a question to requests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import InvalidInputError
from framework.spec.context import Variables
from framework.spec.templates import MissingValueError
from framework.types import HttpRequest, Next, Query, SafeSearch, TimeRange
from tests.support.specs import codes, compiled, engine, spec_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOW = Variables(now=datetime(2026, 1, 8, tzinfo=UTC))
_POSTED = "url: https://www.example.org/s\n"


def plan(text: str, query: Query, page: int = 1, variables: Variables = _NOW) -> HttpRequest:
    return engine(text).plan(query, page, variables)


def sent(request: HttpRequest) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True))


def asked(query_part: str, query: Query, page: int = 1, **parts: str) -> dict[str, str]:
    request = f"url: https://www.example.org/s\nquery: {query_part}"
    return sent(plan(spec_text(request=request, **parts), query, page))


def body(request: HttpRequest) -> object:
    return json.loads(request.body)


@pytest.mark.parametrize(
    ("region", "language", "expected"),
    [
        pytest.param("de-DE", None, {"r": "de-de", "l": "de", "c": "DE"}, id="mapped"),
        pytest.param("de-de", None, {"r": "de-de", "l": "de", "c": "DE"}, id="case"),
        pytest.param("de", None, {"r": "de-de", "l": "de"}, id="language-alone"),
        pytest.param(None, "de", {"r": "de-de", "l": "de"}, id="language"),
        pytest.param("de-AT", None, {"r": "wt-wt", "l": "de", "c": "AT"}, id="not-mapped"),
        pytest.param(None, None, {"r": "wt-wt"}, id="default"),
        pytest.param("de-DE", "fr", {"r": "de-de", "l": "fr", "c": "DE"}, id="both"),
    ],
)
def test_region_and_language(
    region: str | None, language: str | None, expected: dict[str, str]
) -> None:
    query = Query(text="x", region=region, language=language)
    part = '{r: "{{ region }}", l: "{{ lang }}", c: "{{ country }}"}'
    assert asked(part, query) == expected


def test_the_default_region_gives_its_language_where_it_is_one_of_the_map() -> None:
    inputs = "{region: {map: {en-US: en-US}, default: en-US}}"
    part = '{r: "{{ region }}", l: "{{ lang }}", c: "{{ country }}"}'
    assert asked(part, Query(text="x"), inputs=inputs) == {"r": "en-US", "l": "en", "c": "US"}


def test_a_region_without_a_map_is_passed_on() -> None:
    assert asked('{r: "{{ region }}"}', Query(text="x", region="pt-BR"), inputs="{region: {}}") == {
        "r": "pt-BR"
    }
    assert asked('{r: "{{ region }}"}', Query(text="x"), inputs="{region: {}}") == {}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(Query(text="x"), {"q": "x"}, id="nothing-asked"),
        pytest.param(Query(text="x", time=TimeRange.WEEK), {"q": "x", "t": "w"}, id="time"),
        pytest.param(Query(text="x", time=TimeRange.YEAR), {"q": "x"}, id="time-not-mapped"),
        pytest.param(Query(text="x", safe=SafeSearch.OFF), {"q": "x", "s": "off"}, id="safe"),
        pytest.param(Query(text="x", safe=SafeSearch.MODERATE), {"q": "x"}, id="safe-not-mapped"),
    ],
)
def test_what_was_not_asked_or_is_not_supported_is_not_sent(
    query: Query, expected: dict[str, str]
) -> None:
    assert asked('{q: "{{ query }}", t: "{{ time }}", s: "{{ safe }}"}', query) == expected


def test_literals_are_sent_and_the_order_of_the_file_is_kept() -> None:
    request = plan(
        spec_text(request=_POSTED + 'query: {z: "", a: 10, q: "{{ query }}", m: true, f: 1.5}'),
        Query(text="ü &="),
    )
    assert request.url == "https://www.example.org/s?z=&a=10&q=%C3%BC+%26%3D&m=true&f=1.5"


def test_a_list_repeats_its_parameter() -> None:
    request = plan(
        spec_text(request=_POSTED + 'query: {f: [a, "{{ time }}", "{{ query }}"]}'), Query(text="x")
    )
    assert request.url == "https://www.example.org/s?f=a&f=x"


@pytest.mark.parametrize(
    ("paging", "page", "expected"),
    [
        pytest.param("{by: offset, size: 10, first: 1}", 1, {"p": "1", "o": "1"}, id="offset-1"),
        pytest.param("{by: offset, size: 10, first: 1}", 3, {"p": "3", "o": "21"}, id="offset-3"),
        pytest.param("{by: offset, size: 7}", 2, {"p": "2", "o": "7"}, id="offset-from-0"),
        pytest.param("{by: page, size: 20}", 2, {"p": "2", "o": "20"}, id="page-2"),
        pytest.param("{by: page, size: 20, first: 0}", 2, {"p": "1", "o": "20"}, id="page-from-0"),
    ],
)
def test_pages(paging: str, page: int, expected: dict[str, str]) -> None:
    part = '{p: "{{ page }}", o: "{{ offset }}"}'
    assert asked(part, Query(text="x"), page, paging=paging) == expected


@pytest.mark.parametrize(
    ("paging", "page", "reach"),
    [
        pytest.param("{by: offset, size: 10, max: 5}", 6, "1 to 5", id="after-the-last"),
        pytest.param("{by: offset, size: 10}", 0, "1 or more", id="before-the-first"),
        pytest.param("", 2, "1 to 1", id="no-paging"),
        pytest.param("{by: form, form: form}", 2, "from the page before", id="form"),
    ],
)
def test_pages_out_of_reach(paging: str, page: int, reach: str) -> None:
    with pytest.raises(InvalidInputError, match=reach):
        plan(spec_text(paging=paging), Query(text="x"), page)


def test_a_form_is_encoded_and_posted() -> None:
    text = spec_text(request=_POSTED + 'form: {q: "{{ query }}", b: "", t: "{{ time }}"}')
    request = plan(text, Query(text="a b&ü"))
    assert request.method == "POST"
    assert request.body == b"q=a+b%26%C3%BC&b="
    assert ("Content-Type", "application/x-www-form-urlencoded") in request.headers


def test_json_keeps_types_and_drops_what_is_unset() -> None:
    text = spec_text(
        request=_POSTED
        + 'json: {q: "{{ query }}", n: "{{ size }}", k: 5, t: "{{ time }}", b: true,'
        + ' s: "{{ size }} x", deep: {a: ["{{ time }}", "{{ page }}", 1.5]}}'
    )
    request = plan(text, Query(text='say "hi" ü'))
    assert body(request) == {
        "q": 'say "hi" ü',
        "n": 10,
        "k": 5,
        "b": True,
        "s": "10 x",
        "deep": {"a": [1, 1.5]},
    }
    assert ("Content-Type", "application/json") in request.headers


def test_a_content_type_of_the_file_wins() -> None:
    text = spec_text(request=_POSTED + "text: '{\"q\": 1}'\nheaders: {content-type: text/x}")
    assert plan(text, Query(text="x")).headers == (("content-type", "text/x"),)


def test_text_bodies_are_utf8() -> None:
    text = spec_text(request=_POSTED + 'text: "q={{ query }}"')
    assert plan(text, Query(text="ü")).body == "q=ü".encode()


def test_headers_and_cookies_cannot_be_split() -> None:
    text = spec_text(
        request=_POSTED
        + 'headers: {X-Q: "{{ query }}"}\ncookies: {q: "{{ query }}", t: "{{ time }}"}'
    )
    request = plan(text, Query(text="a; b,ü\r\nSet-Cookie: x=1"))
    assert request.headers == (("X-Q", "a; b,ü Set-Cookie: x=1"),)
    assert request.cookies == (("q", "a%3B%20b%2C%C3%BC%20Set-Cookie:%20x=1"),)


@given(st.text(max_size=60))
def test_any_query_survives_its_encoding(text: str) -> None:
    spec = engine()
    request = spec.plan(Query(text=text), 1, _NOW)
    assert request.url.isascii()
    assert request.url.startswith("https://www.example.org/search?q=")
    found = parse_qsl(urlsplit(request.url).query, keep_blank_values=True)[0][1]
    assert (
        found.split()
        == "".join(" " if c < " " or c in "\x7f\u2028\u2029" else c for c in text).split()
    )


@given(st.text(max_size=40))
def test_a_query_in_the_path_stays_one_segment(text: str) -> None:
    request = engine(spec_text(request='url: "https://www.example.org/s/{{ query }}/all"\n')).plan(
        Query(text=text), 1, _NOW
    )
    parts = urlsplit(request.url)
    assert parts.netloc == "www.example.org"
    assert len(parts.path.split("/")) == 4
    assert parts.query == ""


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("one two three", 13, "one two three", id="fits"),
        pytest.param("one two three", 12, "one two", id="at-a-word"),
        pytest.param("one two three", 7, "one two", id="exactly-a-word"),
        pytest.param("onetwothree", 6, "onetwo", id="one-long-word"),
    ],
)
def test_a_long_query_is_cut_at_a_word(text: str, limit: int, expected: str) -> None:
    inputs = f"{{query: {{max_length: {limit}}}}}"
    assert asked('{q: "{{ query }}"}', Query(text=text), inputs=inputs) == {"q": expected}


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        pytest.param('{domains: {operator: "site:{}"}}', "x (site:a.org OR site:b.org)", id="or"),
        pytest.param(
            '{domains: {operator: "site:{}"}, exclude_domains: {operator: "-site:{}"}}',
            "x (site:a.org OR site:b.org) -site:c.org",
            id="both",
        ),
        pytest.param(
            '{domains: {operator: "site:{}", join: " | "}}',
            "x (site:a.org | site:b.org)",
            id="join",
        ),
        pytest.param("{}", "x", id="not-supported"),
        pytest.param(
            '{domains: {operator: "site:{}"}, query: {max_length: 30}}',
            "x (site:a.org OR site:b.org)",
            id="counted-in-the-length",
        ),
    ],
)
def test_domains_as_operators(inputs: str, expected: str) -> None:
    query = Query(text="x", include_domains=("a.org", "b.org"), exclude_domains=("c.org",))
    assert asked('{q: "{{ query }}"}', query, inputs=inputs) == {"q": expected}


_DOMAINS = "{domains: {param: inc}, exclude_domains: {param: exc}}"
_RESTRICTED = Query(text="x", include_domains=("a.org", "b.org"), exclude_domains=("c.org",))


def test_domains_as_parameters_of_the_address() -> None:
    assert asked('{q: "{{ query }}"}', _RESTRICTED, inputs=_DOMAINS) == {
        "q": "x",
        "inc": "a.org,b.org",
        "exc": "c.org",
    }


def test_domains_as_parameters_of_a_form() -> None:
    text = spec_text(inputs=_DOMAINS, request=_POSTED + 'form: {q: "{{ query }}"}')
    request = plan(text, _RESTRICTED)
    assert request.body == b"q=x&inc=a.org%2Cb.org&exc=c.org"


def test_domains_as_lists_of_a_json_body() -> None:
    text = spec_text(inputs=_DOMAINS, request=_POSTED + 'json: {q: "{{ query }}"}')
    assert body(plan(text, _RESTRICTED)) == {"q": "x", "inc": ["a.org", "b.org"], "exc": ["c.org"]}
    assert body(plan(text, Query(text="x"))) == {"q": "x"}


def test_a_file_may_say_itself_where_a_list_goes() -> None:
    text = spec_text(
        inputs=_DOMAINS,
        request=_POSTED + 'json: {f: {only: {list: include_domains}}, q: "{{ query }}"}',
    )
    request = plan(text, _RESTRICTED)
    assert body(request) == {"f": {"only": ["a.org", "b.org"]}, "q": "x", "exc": ["c.org"]}
    assert body(plan(text, Query(text="x"))) == {"f": {}, "q": "x"}


def test_since_and_count() -> None:
    inputs = "{since: {format: '%d.%m.%Y'}, count: {max: 20}}"
    part = '{s: "{{ since }}", n: "{{ count }}"}'
    query = Query(text="x", since="2026-01-31", max_results=50)
    assert asked(part, query, inputs=inputs) == {"s": "31.01.2026", "n": "20"}
    assert asked(part, Query(text="x", max_results=5), inputs=inputs) == {"n": "5"}


def test_a_wrong_date_says_so() -> None:
    text = spec_text(inputs="{region: {}, since: {format: '%Y'}}")
    with pytest.raises(InvalidInputError, match="since must be a date, not 'soon'"):
        plan(text, Query(text="x", since="soon"))


@pytest.mark.parametrize(
    ("variable", "inputs"),
    [
        pytest.param("region", "{}", id="region"),
        pytest.param("time", "{}", id="time"),
        pytest.param("safe", "{}", id="safe"),
        pytest.param("since", "{}", id="since"),
        pytest.param("count", "{}", id="count"),
        pytest.param("include_domains", '{domains: {operator: "site:{}"}}', id="include_domains"),
    ],
)
def test_an_input_that_is_not_declared_is_never_set(variable: str, inputs: str) -> None:
    request = f'{_POSTED}query: {{x: "{{{{ {variable} }}}}"}}'
    found = compiled(spec_text(inputs=inputs, request=request))
    assert [(i.code, i.path) for i in found.problems] == [("W103", "request.query.x")]
    assert found.engine is not None
    assert sent(found.engine.plan(Query(text="x", region="de-DE", time=TimeRange.DAY))) == {}


def test_offset_is_never_set_without_paging() -> None:
    request = f'{_POSTED}query: {{x: "{{{{ offset }}}}"}}'
    assert codes(spec_text(paging="", request=request)) == [("W103", "request.query.x")]


def test_a_file_that_deletes_a_declaration_is_not_warned() -> None:
    parent = spec_text(
        id="parent", request=f'{_POSTED}query: {{t: "{{{{ time }}}}", o: "{{{{ offset }}}}"}}'
    )
    child = "schema: 1\nid: plain\nextends: parent\npaging: null\ninputs: {time: null}\n"
    found = compiled(child, {"parent": parent})
    assert found.problems == ()
    assert found.engine is not None
    assert sent(found.engine.plan(Query(text="x", time=TimeRange.DAY))) == {}


def test_keys_and_settings() -> None:
    text = spec_text(
        keys="{api: {env: X_API_KEY}, mail: {env: X_MAIL, optional: true}}",
        settings="{base: {env: X_URL}, cx: {env: [X_CX, Y_CX], default: abc}}",
        request='url: "{{ settings.base }}/search"\n'
        'query: {cx: "{{ settings.cx }}", mail: "{{ keys.mail }}"}\n'
        'headers: {Authorization: "Bearer {{ keys.api }}"}',
    )
    variables = Variables(keys={"api": "k1"}, settings={"base": "http://10.0.0.1:8080/sx/"})
    request = plan(text, Query(text="x"), 1, variables)
    assert request.url == "http://10.0.0.1:8080/sx/search?cx=abc"
    assert request.headers == (("Authorization", "Bearer k1"),)
    with pytest.raises(MissingValueError, match='keys has no value "api"'):
        plan(text, Query(text="x"), 1, Variables(settings={"base": "https://x.org"}))
    with pytest.raises(MissingValueError, match='settings has no value "base"'):
        plan(text, Query(text="x"), 1, Variables(keys={"api": "k1"}))


@pytest.mark.parametrize("base", ["ftp://x.org", "x.org", "https://u:p@x.org", "javascript:1"])
def test_an_operator_address_must_be_http_without_a_user(base: str) -> None:
    text = spec_text(settings="{base: {env: X_URL}}", request='url: "{{ settings.base }}/s"\n')
    with pytest.raises(InvalidInputError, match="no http or https address"):
        plan(text, Query(text="x"), 1, Variables(settings={"base": base}))


def test_mirrors_replace_scheme_and_host() -> None:
    text = spec_text(request=_POSTED + "mirrors: [https://a.example.org, https://b.example.org]")
    urls = [plan(text, Query(text="x"), 1, Variables(mirror=n)).url for n in range(4)]
    hosts = ["www.example.org", "a.example.org", "b.example.org", "a.example.org"]
    assert urls == [f"https://{host}/s" for host in hosts]
    assert plan(spec_text(), Query(text="x"), 1, Variables(mirror=2)).url.startswith(
        "https://www.example.org/"
    )


_SESSION = """
- id: token
  request: {url: "https://www.example.org/app.js"}
  take: {key: {text_of: body, do: [{match: 'TOKEN = "([^"]+)"'}]}}
  ttl: 1h
  scope: proxy
"""
_TWO_HOPS = """
- id: found
  request: {url: "https://www.example.org/ids", query: {q: "{{ query }}", from: "{{ offset }}"}}
  format: json
  take: {ids: {jmes: "ids[]", many: true, do: [{join: ","}]}}
"""


def test_session_values_are_used_by_the_search_request() -> None:
    text = spec_text(session=_SESSION, request=_POSTED + 'query: {k: "{{ session.token.key }}"}')
    spec = engine(text)
    (step,) = spec.steps
    assert (step.id, step.ttl, step.scope, step.per_page) == ("token", 3600.0, "proxy", False)
    assert spec.plan_step(step, Query(text="x")).url == "https://www.example.org/app.js"
    request = spec.plan(Query(text="x"), 1, Variables(session={"token": {"key": "s3"}}))
    assert sent(request) == {"k": "s3"}
    with pytest.raises(MissingValueError, match="token"):
        spec.plan(Query(text="x"))


def test_a_step_of_a_query_sees_query_and_page() -> None:
    text = spec_text(session=_TWO_HOPS, request=_POSTED + 'query: {id: "{{ session.found.ids }}"}')
    spec = engine(text)
    (step,) = spec.steps
    assert (step.scope, step.per_page, step.ttl) == ("query", True, 300.0)
    assert sent(spec.plan_step("found", Query(text="a b"), 2)) == {"q": "a b", "from": "11"}
    variables = Variables(session={"found": {"ids": "1,2"}})
    assert sent(spec.plan(Query(text="a b"), 2, variables)) == {"id": "1,2"}
    with pytest.raises(InvalidInputError, match="no session step"):
        spec.plan_step("other", Query(text="x"))


def test_a_step_that_others_share_does_not_see_the_query() -> None:
    session = _TWO_HOPS.replace("format: json", "format: json\n  scope: engine")
    assert codes(spec_text(session=session)) == [
        ("E204", "session[0].request.query.q"),
        ("E204", "session[0].request.query.from"),
    ]


def test_a_step_sees_the_values_of_earlier_steps_only() -> None:
    session = _SESSION + _TWO_HOPS.replace('"{{ query }}"', '"{{ session.token.key }}"')
    assert codes(spec_text(session=session)) == []
    session = _TWO_HOPS.replace('"{{ query }}"', '"{{ session.token.key }}"') + _SESSION
    assert codes(spec_text(session=session)) == [("E202", "session[0].request.query.q")]


_CURSOR = "{by: token, token: '.next::attr(data-c)', send_as: cursor, size: 10}"


def test_a_cursor_is_carried_to_the_next_page() -> None:
    text = spec_text(paging=_CURSOR, request=_POSTED + 'query: {c: "{{ session.cursor }}"}')
    spec = engine(text)
    assert sent(spec.plan(Query(text="x"))) == {}
    following = Next(page=2, session={"cursor": "c2"})
    request = spec.plan_next(Query(text="x"), following)
    assert request is not None
    assert sent(request) == {"c": "c2"}


def test_the_next_page_is_planned_or_ends() -> None:
    spec = engine()
    request = spec.plan_next(Query(text="x"), Next(page=5))
    assert request is not None
    assert request == spec.plan(Query(text="x"), 5)
    assert spec.plan_next(Query(text="x"), Next(page=6)) is None


_FOLLOWED: Mapping[str, bool] = {
    "https://www.example.org/search?p=2": True,
    "https://cdn.example.org/search?p=2": True,
    "https://www.example.org:444/": False,
    "http://www.example.org/search?p=2": False,
    "https://evil.example.net/": False,
    "https://www.example.org.evil.net/": False,
    "https://www.example.org@evil.net/": False,
    "https://user@www.example.org/": False,
    "file:///etc/passwd": False,
    "//www.example.org/": False,
    "https://[::1]/": False,
    "https://[": False,
}


@pytest.mark.parametrize(("url", "followed"), list(_FOLLOWED.items()))
def test_a_link_to_the_next_page_stays_on_the_site(url: str, followed: bool) -> None:
    text = spec_text(paging="{by: link, next: a.next}", fetch="{same_site: [cdn.example.org]}")
    following = Next(page=2, request=HttpRequest(url=url))
    assert (engine(text).plan_next(Query(text="x"), following) is not None) is followed


def test_a_followed_request_gets_the_headers_and_cookies_of_the_file() -> None:
    text = spec_text(
        paging="{by: form, form: form.next}",
        request=_POSTED + "headers: {X-A: a, Referer: https://r.example.org/}\ncookies: {c: '1'}",
    )
    form = HttpRequest(
        url="https://www.example.org/s",
        method="POST",
        headers=(("Referer", "https://www.example.org/s"), ("Content-Type", "x/y")),
        body=b"q=1",
    )
    request = engine(text).plan_next(Query(text="x"), Next(page=2, request=form))
    assert request is not None
    assert dict(request.headers) == {
        "X-A": "a",
        "Referer": "https://www.example.org/s",
        "Content-Type": "x/y",
    }
    assert (request.cookies, request.body, request.method) == ((("c", "1"),), b"q=1", "POST")


@pytest.mark.parametrize(("line", "expected"), [("", False), ("repeatable: true\n", True)])
def test_a_file_says_whether_a_post_may_be_sent_again(line: str, expected: bool) -> None:
    request = _POSTED + 'form: {q: "{{ query }}"}\n' + line
    assert plan(spec_text(request=request), Query(text="x")).repeatable is expected


def test_the_form_of_the_next_page_may_be_sent_again_like_the_first() -> None:
    text = spec_text(
        request=_POSTED + 'form: {q: "{{ query }}"}\nrepeatable: true\n',
        paging="{by: form, form: form}",
    )
    form = HttpRequest(url="https://www.example.org/s", method="POST", body=b"s=10")
    following = engine(text).plan_next(Query(text="x"), Next(page=2, request=form), _NOW)
    assert following is not None
    assert following.repeatable
