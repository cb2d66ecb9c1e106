"""Proxy pools: addresses, rotation, health, failing closed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import InvalidInputError, UnavailableError
from middlewares.pools import Health, Member, Pool, ProxyRotation, parse_proxy, redacted
from tests.support.clock import Clock

A, B, C = (f"socks5h://{name}.test:1080" for name in "abc")


def pool(
    *urls: str,
    rotation: ProxyRotation = ProxyRotation.ROUND_ROBIN,
    clock: Clock | None = None,
    weights: tuple[float, ...] = (),
) -> Pool:
    members = [Member(url, weights[at] if weights else 1.0) for at, url in enumerate(urls)]
    return Pool("main", members, rotation=rotation, clock=clock or Clock())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("socks5://gate.test", "socks5h://gate.test:1080"),
        ("SOCKS5H://gate.test:99", "socks5h://gate.test:99"),
        ("http://gate.test", "http://gate.test:8080"),
        ("https://gate.test/", "https://gate.test:443"),
        ("gate.test:3128", "http://gate.test:3128"),
        ("http://me:p%40ss%2Fword@gate.test:1", "http://me:p%40ss%2Fword@gate.test:1"),
        ("http://me:p@ss@gate.test:1", "http://me:p%40ss@gate.test:1"),
        ("http://me@gate.test:1", "http://me:@gate.test:1"),
        ("socks5://[::1]:1080", "socks5h://[::1]:1080"),
        (" http://gate.test:1 ", "http://gate.test:1"),
    ],
)
def test_addresses_in_every_spelling(text: str, expected: str) -> None:
    assert parse_proxy(text) == expected
    assert parse_proxy(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "socks4://gate.test:1",
        "ftp://gate.test",
        "http://me:secret@:99",
        "http://me:secret@gate.test:99999",
        "http://me:secret@gate.test/path",
        "http://me:secret@gate.test?x=1",
        "",
    ],
)
def test_what_is_no_proxy_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(InvalidInputError, match="HTTP_PROXY: ") as caught:
        parse_proxy(text, source="HTTP_PROXY")
    assert "secret" not in str(caught.value)


def test_names_hide_credentials() -> None:
    member = Member("http://me:secret@gate.test:1")
    assert member.name == redacted(member.url) == "http://gate.test:1"
    assert "secret" not in f"{member!r} {pool(member.url)!r} {pool(member.url).reports()}"


def test_round_robin_takes_turns() -> None:
    main = pool(A, B, C)
    assert [main.pick().url for _ in range(6)] == [A, B, C, A, B, C]


def test_weights_share_smoothly() -> None:
    main = pool(A, B, weights=(3.0, 1.0))
    picks = [main.pick().url for _ in range(8)]
    assert Counter(picks) == {A: 6, B: 2}
    assert picks[:4] != [A, A, A, B]


def test_least_used_evens_out() -> None:
    main = pool(A, B, rotation=ProxyRotation.LEAST_USED)
    main.failed(A)
    assert [main.pick().url for _ in range(2)] == [B, B]
    main.succeeded(A)
    assert [main.pick().url for _ in range(3)] == [A, A, A]


@given(st.text(max_size=20))
def test_sticky_texts_keep_their_proxy(text: str) -> None:
    main = pool(A, B, C, rotation=ProxyRotation.STICKY)
    first = main.pick(sticky=text).url
    assert {main.pick(sticky=text).url for _ in range(3)} == {first}


def test_only_the_texts_of_a_failing_proxy_move() -> None:
    clock = Clock()
    main = pool(A, B, C, clock=clock)
    texts = [str(number) for number in range(60)]
    before = {text: main.pick(sticky=text).url for text in texts}
    assert set(before.values()) == {A, B, C}
    main.failed(A)
    during = {text: main.pick(sticky=text).url for text in texts}
    assert all(during[text] == before[text] for text in texts if before[text] != A)
    assert A not in during.values()
    clock.now += 1000
    assert {text: main.pick(sticky=text).url for text in texts} == before


def test_a_failing_proxy_is_benched_with_growing_pauses() -> None:
    clock = Clock()
    main = pool(A, B, clock=clock)
    for pause in (5.0, 10.0, 20.0):
        main.failed(A, "connection refused")
        assert main.reports()[0].benched == pause
        assert {main.pick().url for _ in range(4)} == {B}
        clock.now += pause
    main.succeeded(A)
    assert main.reports()[0].failures == 0
    main.failed(A)
    assert main.reports()[0].benched == 5.0


def test_pauses_have_an_end() -> None:
    assert Health().pause(50) == 600.0


def test_requests_that_fail_together_count_once() -> None:
    main = pool(A, B)
    for _ in range(20):
        main.failed(A)
    assert (main.reports()[0].failures, main.reports()[0].benched) == (1, 5.0)


def test_a_retry_takes_another_member_as_long_as_there_is_one() -> None:
    main = pool(A, B)
    first = main.pick()
    second = main.pick(tried=[first.url])
    assert first.url != second.url
    assert main.pick(tried=[A, B]).url in {A, B}


def test_without_a_healthy_member_the_pool_fails_closed() -> None:
    main = pool("http://me:secret@a.test:1", B)
    main.failed("http://me:secret@a.test:1", "refuses the password")
    main.failed(B, "hung up")
    with pytest.raises(UnavailableError) as caught:
        main.pick()
    assert (caught.value.code, caught.value.retry_after) == ("proxy_unavailable", 5.0)
    assert "http://a.test:1: refuses the password; socks5h://b.test:1080: hung up" in str(
        caught.value
    )
    assert "secret" not in str(caught.value)


def test_a_reason_that_names_its_proxy_does_not_name_it_twice() -> None:
    main = pool(A)
    main.failed(A, f"{main.members[0].name}: could not resolve proxy")
    with pytest.raises(UnavailableError) as caught:
        main.pick()
    assert str(caught.value).count(main.members[0].name) == 1


def test_an_empty_pool_is_refused_and_strangers_are_ignored() -> None:
    with pytest.raises(InvalidInputError, match="no members"):
        pool()
    main = pool(A)
    main.failed("http://stranger.test:1")
    main.succeeded("http://stranger.test:1")
    assert main.pick().url == A
