"""PDF through a worker process: native parsers of hostile input don't run in ours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PdfText", "extract"]

_WORKER = Path(__file__).with_name("pdf_worker.py")
_DATE = re.compile(r"((?:19|20)\d\d)-?(\d\d)-?(\d\d)")
_SECONDS = 30.0
_MEMORY = 1 << 30
_BYTES_MOST = 64 << 20
_PAGES_MOST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfText:
    """A PDF's pages as Markdown, and what it says about itself."""

    pages: tuple[str, ...] = ()
    title: str | None = None
    author: str | None = None
    published: str | None = None
    warnings: tuple[str, ...] = ()


def extract(
    body: bytes, *, seconds: float = _SECONDS, memory: int = _MEMORY, pages: int = _PAGES_MOST
) -> PdfText:
    """Return the text of a PDF within limits of time (seconds), memory (bytes) and pages.

    A file that is too large, damaged, encrypted or too slow gives no pages and a warning.
    """
    if len(body) > _BYTES_MOST:
        return PdfText(warnings=(f"the PDF is larger than {_BYTES_MOST >> 20} MiB",))
    command = [sys.executable, "-I", str(_WORKER), str(memory), str(int(seconds) + 1), str(pages)]
    try:
        done = subprocess.run(  # noqa: S603 - our own worker, no shell, no argument of a caller
            command, input=body, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return PdfText(warnings=(f"the PDF was not read within {seconds:g} seconds",))
    except OSError as error:
        return PdfText(warnings=(f"the PDF reader could not be started: {error.strerror}",))
    return (
        _answer(done.stdout)
        if done.returncode == 0
        else PdfText(warnings=("the PDF is damaged, encrypted or too large to read",))
    )


def _date(text: str) -> str | None:
    """Return a PDF's date (`D:20240517…`) or an ISO date as YYYY-MM-DD, or None."""
    match = _DATE.search(text)
    return f"{match[1]}-{match[2]}-{match[3]}" if match else None


def _answer(output: bytes) -> PdfText:
    try:
        found = json.loads(output)
    except ValueError:
        return PdfText(warnings=("the PDF reader gave no usable answer",))
    return PdfText(
        pages=tuple(str(page) for page in found["pages"]),
        title=found.get("title") or None,
        author=found.get("author") or None,
        published=_date(found.get("published") or ""),
        warnings=tuple(str(text) for text in found["warnings"]),
    )
