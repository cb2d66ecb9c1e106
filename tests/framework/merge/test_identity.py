"""Names that make two rows one work."""

from __future__ import annotations

import pytest

from framework.merge.identity import identities
from framework.types import FieldValue, Row


def names(url: str, **fields: FieldValue) -> tuple[str, ...]:
    return identities(Row(title="t", url=url, fields=fields))[1:]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"doi": "https://doi.org/10.5555/AbC."}, ("doi:10.5555/abc",)),
        ({"doi": "10.48550/arXiv.2001.00001"}, ("arxiv:2001.00001",)),
        ({"arxiv": "arXiv:2001.00001v3"}, ("arxiv:2001.00001",)),
        ({"arxiv_id": "math.GT/0309136"}, ("arxiv:math.gt/0309136",)),
        ({"isbn": "0-306-40615-2"}, ("isbn:9780306406157",)),
        ({"isbn": "978-0-306-40615-7"}, ("isbn:9780306406157",)),
        ({"pmid": 12345}, ("pmid:12345",)),
        ({"doi": "none", "isbn": "12", "pmid": "x", "arxiv": "soon"}, ()),
        ({"doi": ("10.5555/a",)}, ()),
    ],
)
def test_names_in_fields(fields: dict[str, FieldValue], expected: tuple[str, ...]) -> None:
    assert names("https://site.test/", **fields) == expected


def test_a_doi_address_is_its_doi() -> None:
    assert names("http://dx.doi.org/10.5555/ABC") == ("doi:10.5555/abc",)
    assert names("https://doi.org/") == ()


def test_records_stand_for_the_work_and_pages_for_their_version() -> None:
    url = "http://arxiv.org/abs/2001.00001v2"
    assert names(url) == ()
    assert names(url, authors=("A. Author",)) == ("arxiv:2001.00001",)
    assert names("https://arxiv.org/list", authors=("A. Author",)) == ()
    assert names("https://pubmed.ncbi.nlm.nih.gov/77/", authors=("A",)) == ("pmid:77",)
