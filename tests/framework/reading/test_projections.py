"""Forms of a document, and parts of it by heading or selector."""

from __future__ import annotations

import pytest

from framework.errors import InvalidInputError, NotFoundError
from framework.reading import Document, read
from framework.reading.projections import FORMATS, lean, project, section, select, without_links

URL = "https://site.test/docs/"
PAGE = """<!doctype html><title>Manual</title><nav><a href="/home">Home</a></nav><main>
<p>The manual of a small tool, which is described here in a few sections and not more than that.</p>
<h2>Install</h2><p>Run <code>make</code> first, then <a href="#use">use</a> it as you like.</p>
<h3>Linux</h3><p>On Linux nothing else is needed, which is the whole point of it.</p>
<h2 id="use">Use</h2><p>Start the tool and read what it prints, line by line.</p>
<h3>Linux</h3><ul><li>one</li><li>two</li></ul></main>"""


@pytest.fixture
def document() -> Document:
    return read(PAGE.encode(), URL)


def test_every_form(document: Document) -> None:
    shown = {name: project(document, name) for name in FORMATS}
    assert "Run `make` first" in shown["markdown"]
    assert "Run make first, then use it" in shown["text"]
    assert shown["headings"].splitlines()[0] == "  - Install (line 3)"
    assert "- [Home](https://site.test/home)" in shown["links"]
    assert shown["raw"] == PAGE


def test_an_unknown_form_is_refused_with_the_known_ones(document: Document) -> None:
    with pytest.raises(InvalidInputError, match="markdown, text, headings, links, raw"):
        project(document, "pdf")


SECTIONS = {
    "heading": ("install", "## Install"),
    "marks and spaces": ("##  Install ", "## Install"),
    "path": ("Use > Linux", "### Linux\n\n- one"),
    "path with slashes": ("Use/Linux", "### Linux\n\n- one"),
    "first of a name": ("Linux", "### Linux\n\nOn Linux"),
}


@pytest.mark.parametrize(("wanted", "start"), SECTIONS.values(), ids=SECTIONS.keys())
def test_section(document: Document, wanted: str, start: str) -> None:
    part = section(document, wanted)
    assert part.markdown.startswith(start)
    assert all(part.markdown[block.start : block.end].strip() for block in part.blocks)


def test_a_section_ends_at_the_next_heading_of_its_level(document: Document) -> None:
    part = section(document, "Install")
    assert [heading.text for heading in part.headings] == ["Install", "Linux"]


def test_a_missing_section_names_those_that_exist(document: Document) -> None:
    with pytest.raises(NotFoundError, match="Install; Linux; Use"):
        section(document, "Windows")


def test_a_selector_reads_any_part_of_the_page(document: Document) -> None:
    assert select(document, "nav a").markdown == "[Home](https://site.test/home)"
    assert select(document, "h3 + ul").markdown == "- one\n- two"
    assert select(document, "main, main h2").markdown.count("## Install") == 1
    assert (
        select(document, "h3 + ul")
        .blocks[0]
        .dom_path.endswith("ul:nth-of-type(1) > li:nth-of-type(1)")
    )


def test_a_selector_without_a_match_is_said(document: Document) -> None:
    with pytest.raises(NotFoundError, match="nothing matches"):
        select(document, "main .missing")


def test_a_broken_selector_is_refused(document: Document) -> None:
    with pytest.raises(InvalidInputError, match="does not parse"):
        select(document, "main[")


def test_a_selector_needs_html() -> None:
    with pytest.raises(InvalidInputError, match="HTML"):
        select(read(b"{}", URL, {"Content-Type": "application/json"}), "p")


def test_links_are_all_of_the_page_with_their_heading(document: Document) -> None:
    links = [(link.text, link.absolute_url, link.section) for link in document.links]
    assert links == [
        ("Home", "https://site.test/home", ""),
        ("use", "https://site.test/docs/#use", "Install"),
    ]


LABELS = {
    "image": ('<a href="/a"><img src="/i.png" alt="The lamp"></a>', "The lamp"),
    "label": ('<a href="/a" aria-label="The lamp"><svg></svg></a>', "The lamp"),
    "nothing": ('<a href="/a"></a>', ""),
}


@pytest.mark.parametrize(("markup", "text"), LABELS.values(), ids=LABELS.keys())
def test_the_text_of_a_link(markup: str, text: str) -> None:
    assert [link.text for link in read(markup.encode(), URL).links] == [text]


def test_addresses_that_lead_nowhere_are_no_links() -> None:
    page = (
        b'<a href="javascript:x()">a</a><a href="data:text/plain,x">b</a><a>c</a><a '
        b'href="mailto:a@b.test">d</a>'
    )
    assert [link.absolute_url for link in read(page, URL).links] == ["mailto:a@b.test"]


def test_links_can_be_left_out() -> None:
    page = (
        '<main><p>See <a href="/a">the <b>first</b> page</a> and <code>[x](y)</code> here.</p>'
        '<p><img src="/i.png" alt="A lamp"></p><p><img src="/j.png"></p><pre>[a](b)</pre></main>'
    )
    plain = without_links(read(page.encode(), URL))
    assert plain.markdown == (
        "See the **first** page and `[x](y)` here.\n\n[image: A lamp]\n\n```\n[a](b)\n```"
    )
    last = plain.blocks[-1]
    assert plain.markdown[last.start : last.end] == "```\n[a](b)\n```"


@pytest.mark.parametrize(
    ("paragraphs", "every", "keeps"), [(10, 1, True), (90, 1, False), (90, 30, True)]
)
def test_addresses_go_where_a_page_is_long_and_full_of_them(
    paragraphs: int, every: int, keeps: bool
) -> None:
    page = "<main>" + "".join(
        f"<p>Paragraph {n} tells of things that were seen by "
        + (f'<a href="/people/{n}">one of them</a>' if n % every == 0 else "one of them")
        + " in the course of the year.</p>"
        for n in range(paragraphs)
    )
    document = read(page.encode(), URL)
    shown = lean(document)
    assert (shown is document) is keeps
    assert "one of them" in shown.markdown
    assert ("/people/" in shown.markdown) is keeps
    assert shown.links == document.links
