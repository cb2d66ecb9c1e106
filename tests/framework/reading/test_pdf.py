"""PDF: read in a process of its own, within limits."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable

import pytest

from framework.reading import DocumentKind, pdf_worker, read
from framework.reading.pdf import extract

pytest.importorskip("pdf_inspector")
URL = "https://site.test/a.pdf"


def pdf(*pages: list[str], title: str = "The harbour") -> bytes:
    """Return a PDF that shows lines of text, one list a page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for lines in pages:
        shown = (
            "BT /F1 12 Tf 14 TL 72 720 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        )
        objects.append(f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream".encode())
        font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            f"/Resources << /Font << /F1 {font} >> >> >>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    objects.append(f"<< /Title ({title}) >>".encode())
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    return (
        body
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f "
            f"\n{table}trailer\n{trailer}\nstartxref\n{len(body)}\n%%EOF"
        ).encode()
    )


LINES = [
    "The lamp over the pier was lit again in spring.",
    "Nobody knows who had repaired it over the winter.",
]


def test_pages_title_and_place() -> None:
    document = read(
        pdf(LINES, ["A second page tells the rest of the story of the lamp."]),
        URL,
        {"Content-Type": "text/html"},
    )
    assert document.kind is DocumentKind.PDF
    assert document.title == "The harbour"
    assert "lamp over the pier" in document.text
    assert [block.dom_path for block in document.blocks][-1] == "page=2"
    assert "second page" in document.markdown[document.blocks[-1].start : document.blocks[-1].end]


def test_pages_beyond_the_limit_are_said() -> None:
    found = extract(pdf(LINES, LINES, LINES), pages=2)
    assert len(found.pages) == 2
    assert any("2 of 3 pages" in warning for warning in found.warnings)


@pytest.mark.parametrize("body", [b"%PDF-1.7\n" + b"\x00\xff" * 500, b"%PDF-", pdf(LINES)[:400]])
def test_a_damaged_file_gives_a_warning(body: bytes) -> None:
    document = read(body, URL)
    assert document.markdown == "" or "lamp" in document.markdown
    assert document.markdown or document.warnings


def test_a_time_limit_is_kept() -> None:
    found = extract(pdf(LINES), seconds=0.0001)
    assert found.pages == ()
    assert "not read within" in found.warnings[0]


def test_a_memory_limit_is_kept() -> None:
    found = extract(pdf(LINES), memory=1 << 20)
    assert found.pages == ()
    assert found.warnings


Worker = Callable[[bytes], int]


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    """Runs the worker in this process, without its limits, for the first page."""

    def run(body: bytes) -> int:
        monkeypatch.setattr(pdf_worker, "_limit", lambda memory, seconds: None)
        monkeypatch.setattr(sys, "argv", ["worker", "0", "0", "1"])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(body)))
        return pdf_worker.main()

    return run


@pytest.mark.parametrize("missing", ["", "pdf_inspector"], ids=["first reader", "second reader"])
def test_either_reader_tells_text_title_and_what_was_left(
    worker: Worker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    missing: str,
) -> None:
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    assert worker(pdf(LINES, ["A second page."])) == 0

    answer = json.loads(capsys.readouterr().out)
    assert len(answer["pages"]) == 1
    assert "lamp over the pier" in answer["pages"][0]
    assert answer["title"] == "The harbour"
    assert answer["warnings"] == ["only the first 1 of 2 pages were read"]


@pytest.mark.parametrize("body", [b"", b"%PDF-1.4 and no more", b"<p>no PDF"])
def test_what_neither_reader_takes_ends_with_1(
    worker: Worker, capsys: pytest.CaptureFixture[str], body: bytes
) -> None:
    assert worker(body) == 1
    assert not capsys.readouterr().out
