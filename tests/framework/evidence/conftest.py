"""Pages and model stores that the tests of evidence share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.evidence.chunks import Source
from framework.evidence.models import RECORDS, ModelStore, find
from framework.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from framework.reading import Document

    Page = Callable[..., Document]


@pytest.fixture(scope="session")
def no_models() -> ModelStore:
    """A machine without any model."""
    return ModelStore(records=())


@pytest.fixture(scope="session")
def packaged() -> ModelStore:
    """The models that the optional package ships; skipped where it is not installed."""
    records = tuple(r for r in RECORDS if r.kind in ("rerank", "embed"))
    if any(find(record) is None for record in records):
        pytest.skip("the package with the ranking models (extra `models`) is not installed")
    return ModelStore(records=records)


@pytest.fixture(scope="session")
def small(shared: Path) -> ModelStore:
    """All models, the small NLI model of the recordings among them."""
    return ModelStore(models_dir=shared / "models")


@pytest.fixture(scope="session")
def page() -> Page:
    """Return a document made from the inside of a body."""

    def make(body: str, *, head: str = "", url: str = "https://site.example/page") -> Document:
        html = f"<!doctype html><html><head>{head}</head><body><main>{body}</main></body></html>"
        return read(html.encode(), url)

    return make


@pytest.fixture(scope="session")
def source(page: Page) -> Callable[..., Source]:
    """Return a source made from paragraphs."""

    def make(*paragraphs: str, title: str = "", url: str = "https://site.example/page") -> Source:
        body = f"<h1>{title or 'Page'}</h1>" + "".join(f"<p>{p}</p>" for p in paragraphs)
        return Source(url, title, page(body, url=url))

    return make
