"""Which hosts an included or excluded domain covers."""

from __future__ import annotations

import pytest

from framework.merge.domains import DomainFilter

COVERED = {
    "itself": ("site.test", "https://site.test/a", True),
    "sub-domain": ("site.test", "https://docs.site.test/a", True),
    "www": ("www.site.test", "http://site.test/", True),
    "address": ("https://site.test/", "https://site.test/a", True),
    "wildcard": ("*.site.test", "https://docs.site.test/a", True),
    "top-level domain": ("test", "https://site.test/a", True),
    "capitals": ("SITE.test", "https://site.test/a", True),
    "suffix of a label": ("site.test", "https://mysite.test/a", False),
    "parent": ("docs.site.test", "https://site.test/a", False),
    "in the path": ("site.test", "https://other.test/site.test", False),
    "path": ("site.test/docs", "https://site.test/docs/a", True),
    "path itself": ("site.test/docs/", "https://site.test/docs", True),
    "path as a part": ("site.test/docs", "https://site.test/docs2", False),
    "wrapped": ("site.test", "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fsite.test%2F", True),
}


@pytest.mark.parametrize(("domain", "url", "covered"), COVERED.values(), ids=COVERED.keys())
def test_what_a_domain_covers(domain: str, url: str, covered: bool) -> None:
    assert DomainFilter(include=[domain]).allows(url) is covered
    assert DomainFilter(exclude=[domain]).allows(url) is not covered


def test_excluding_wins_over_including() -> None:
    wanted = DomainFilter(include=["site.test"], exclude=["docs.site.test"])
    assert wanted.allows("https://site.test/")
    assert not wanted.allows("https://docs.site.test/")


def test_an_empty_filter_lets_everything_through() -> None:
    assert not DomainFilter(include=[" "])
    assert DomainFilter().allows("anything")
