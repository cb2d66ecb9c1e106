"""Footnotes of the makers that pages are written with."""

from __future__ import annotations

import pytest

from framework.reading import BlockKind, read

URL = "https://site.test/essay"
TEXT = "<p>Running text that is long enough to be taken for an article{}.</p>"

MADE_BY = {
    "markdown": (
        '<sup id="fnref:1"><a href="#fn:1" class="footnote">1</a></sup>',
        (
            '<div class="footnotes"><ol><li id="fn:1"><p>The note. <a href="#fnref:1">↩</a></p>'
            "</li></ol></div>"
        ),
    ),
    "github": (
        '<sup><a href="#user-content-fn-1" data-footnote-ref>1</a></sup>',
        (
            '<section class="footnotes"><h2 class="sr-only">Footnotes</h2><ol><li '
            'id="user-content-fn-1">'
            '<p>The note. <a href="#ref" data-footnote-backref>↩</a></p></li></ol></section>'
        ),
    ),
    "wikipedia": (
        '<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup>',
        (
            '<ol class="references"><li id="cite_note-1"><span><b><a href="#cite_ref-1">^</a>'
            "</b></span> "
            "<span>The note.</span></li></ol>"
        ),
    ),
    "arxiv": (
        '<cite>[<a href="#bib.bib1" class="ltx_ref">1</a>]</cite>',
        (
            '<section class="ltx_bibliography"><ul><li id="bib.bib1"><span>[1]</span>'
            "<span>The note.</span></li></ul></section>"
        ),
    ),
    "word": (
        '<a href="#_ftn1"><sup>[1]</sup></a>',
        '<hr><p><a href="#_ftnref1">[1]</a> The note.</p>',
    ),
    "number without a link": (
        "<sup>1</sup>",
        '<div class="footnotes"><ol><li id="footnote-1">The note.</li></ol></div>',
    ),
    "side note": (
        '<sup>1</sup><span class="sidenote">The note.</span>',
        "",
    ),
    "hidden aside": (
        '<span class="fn-ref" data-definition="note1"><a href="#">*</a></span>',
        '<aside id="note1" style="display:none">The note.</aside>',
    ),
}


@pytest.mark.parametrize(("mark", "note"), MADE_BY.values(), ids=MADE_BY.keys())
def test_notes_become_markdown_footnotes(mark: str, note: str) -> None:
    page = f"<article>{TEXT.format(mark)}{TEXT.format('')}{note}</article>"
    document = read(page.encode(), URL)
    assert "article[^1]." in document.markdown
    assert document.markdown.endswith("\n\n[^1]: The note.")
    assert document.blocks[-1].kind is BlockKind.FOOTNOTE


def test_notes_are_numbered_by_their_first_reference() -> None:
    refs = (
        '<sup><a href="#fn-b">7</a></sup> and <sup><a href="#fn-a">3</a></sup> and <sup><a '
        'href="#fn-b">7</a></sup>'
    )
    notes = '<ol><li id="fn-a">Note a.</li><li id="fn-b">Note b.</li></ol>'
    markdown = read(
        f"<article>{TEXT.format(refs)}{TEXT.format('')}{notes}</article>".encode(), URL
    ).markdown
    assert "[^1] and [^2] and [^1]" in markdown
    assert markdown.endswith("[^1]: Note b.\n\n[^2]: Note a.")


def test_a_reference_to_an_equation_is_no_footnote() -> None:
    page = (
        f'<article><p id="eq1">a = b, said the author of the text at length.'
        f"</p>{TEXT.format(' <a href=#eq1>(1)</a>')}</article>"
    )
    assert "[^" not in read(page.encode(), URL).markdown
