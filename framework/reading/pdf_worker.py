"""The worker behind `framework.reading.pdf`: reads a PDF from stdin, writes JSON to stdout.

It runs alone with limits of memory, time and pages, and imports nothing of ours.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

_SCANNED = "these pages hold images of text only, which is not recognised: "


def _limit(memory: int, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _inspected(data: bytes, most: int) -> dict[str, Any]:
    """Read with pdf-inspector: headings, tables, columns."""
    import pdf_inspector

    facts = pdf_inspector.process_pdf_bytes(data, pages=[1])
    count = int(facts.page_count)
    if getattr(facts, "has_encoding_issues", False):
        raise ValueError("broken fonts")
    found = pdf_inspector.extract_pages_markdown_bytes(data, pages=list(range(min(count, most))))
    pages = [page.markdown.strip() for page in found.pages]
    if not any(pages):
        raise ValueError("no text")
    scanned = [page.page + 1 for page in found.pages if page.needs_ocr]
    warnings = [_SCANNED + ", ".join(map(str, scanned[:20]))] if scanned else []
    if count > most:
        warnings.append(f"only the first {most} of {count} pages were read")
    return {
        "pages": pages,
        "title": facts.title,
        "author": facts.author,
        "published": facts.creation_date,
        "warnings": warnings,
    }


def _plain(data: bytes, most: int) -> dict[str, Any]:
    """Read with pypdfium2: plain text, for files that the first reader can't take."""
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    count = len(document)
    pages = [
        document[number].get_textpage().get_text_range().replace("\r\n", "\n").strip()
        for number in range(min(count, most))
    ]
    facts = document.get_metadata_dict(skip_empty=True)
    warnings = [] if any(pages) else [_SCANNED + "all"]
    if count > most:
        warnings.append(f"only the first {most} of {count} pages were read")
    return {
        "pages": pages,
        "title": facts.get("Title"),
        "author": facts.get("Author"),
        "warnings": warnings,
    }


def main() -> int:
    """Read stdin, write one JSON object; exit 1 where no reader can take the file."""
    memory, seconds, most = (int(argument) for argument in sys.argv[1:4])
    _limit(memory, seconds)
    data = sys.stdin.buffer.read()
    for reader in (_inspected, _plain):
        try:
            answer = reader(data, most)
        except ImportError:
            continue
        except Exception:  # noqa: BLE001 S112 - any failure of a native parser means: try the next
            continue
        sys.stdout.write(json.dumps(answer))
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
