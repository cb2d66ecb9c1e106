"""Facts about a page from each place that states them."""

from __future__ import annotations

import pytest

from framework.reading import Metadata, read

URL = "https://site.test/2024/05/17/a-story"


def facts(head: str, body: str = "") -> Metadata:
    return read(
        f"<html lang=en-GB><head>{head}</head><body>{body}<p>text</p></body></html>".encode(), URL
    ).metadata


FIELDS = {
    "title from og": (
        '<meta property="og:title" content="A story"><title>A story - Site</title>',
        "title",
        "A story",
    ),
    "title without the site": (
        '<meta property="og:site_name" content="Site"><title>A story - Site</title>',
        "title",
        "A story",
    ),
    "title with a dash": ("<title>Day - one</title>", "title", "Day - one"),
    "description": (
        '<meta name="description" content="What  it is.">',
        "description",
        "What it is.",
    ),
    "author tag": ('<meta name="author" content="Ann Lee">', "author", "Ann Lee"),
    "author address": (
        '<meta property="article:author" content="https://x.test/ann">',
        "author",
        None,
    ),
    "site": ('<meta property="og:site_name" content="The Site">', "site", "The Site"),
    "language": ("", "language", "en-GB"),
    "published": (
        '<meta property="article:published_time" content="2024-05-16T08:00:00+02:00">',
        "published",
        "2024-05-16T08:00:00+02:00",
    ),
    "published by address": ("", "published", "2024-05-17"),
    "published in words": ('<meta name="date" content="May 5, 2023">', "published", "2023-05-05"),
    "modified": (
        '<meta property="article:modified_time" content="2024-06-01">',
        "modified",
        "2024-06-01",
    ),
    "title beside a description in JSON-LD": (
        (
            '<title>Lamp - Encyclopedia of Things</title><script type="application/ld+json">'
            '{"@type": "Article", "headline": "device that gives light"}</script>'
        ),
        "title",
        "Lamp - Encyclopedia of Things",
    ),
    "title in Dublin Core": ('<meta property="dc:title" content="A story">', "title", "A story"),
    "author with an address": (
        '<meta name="author" content="Ann Lee - https://x.test/">',
        "author",
        "Ann Lee",
    ),
    "favicon": ('<link rel="icon" href="/i.svg">', "favicon", "https://site.test/i.svg"),
    "favicon by custom": ("", "favicon", "https://site.test/favicon.ico"),
    "image": ('<meta property="og:image" content="/i.jpg">', "image", "https://site.test/i.jpg"),
    "canonical": ('<link rel="canonical" href="/a">', "canonical_url", "https://site.test/a"),
}
LD = '<script type="application/ld+json">{}</script>'


@pytest.mark.parametrize(("head", "name", "expected"), FIELDS.values(), ids=FIELDS.keys())
def test_field(head: str, name: str, expected: str | None) -> None:
    assert getattr(facts(head), name) == expected


def test_json_ld_states_the_article() -> None:
    found = facts(
        LD.format(
            '{"@graph": [{"@type": "WebSite", "name": "The Site"}, {"@type": "NewsArticle", '
            '"headline": "A story", '
            '"author": [{"name": "Ann Lee"}, {"name": "Bo Chen"}], "datePublished": '
            '"2024-05-17T09:00:00Z", '
            '"publisher": {"name": "House"}}]}'
        )
    )
    assert (found.title, found.author, found.published) == (
        "A story",
        "Ann Lee, Bo Chen",
        "2024-05-17T09:00:00Z",
    )
    assert found.site == "The Site"


@pytest.mark.parametrize(
    "markup",
    [
        '<span itemprop="author"><span itemprop="name">Ann Lee</span></span>',
        '<a rel="author" href="/ann">Ann Lee</a>',
        '<p class="byline">By Ann Lee</p>',
    ],
)
def test_the_byline_is_found_in_markup(markup: str) -> None:
    assert facts("", markup).author == "Ann Lee"


def test_words_are_counted_in_any_script() -> None:
    assert read(b"<p>three short words</p>", URL).metadata.word_count == 3
    assert read("<p>四个汉字</p>".encode(), URL).metadata.word_count >= 4


SHOWN_DATES = {
    "line after": ("<h1>A story</h1><p>May 5, 2023</p>", "2023-05-05", None),
    "line before": ("<div><p>5 May 2023</p></div><h1>A story</h1>", "2023-05-05", None),
    "outside the header": (
        "<header><h1>A story</h1></header><div>05.05.2023</div>",
        "2023-05-05",
        None,
    ),
    "time": ("<h1>A story</h1><time datetime=2023-05-05>last year</time>", "2023-05-05", None),
    "both": (
        (
            "<h1>Eine Geschichte</h1><div>Veröffentlicht am 5. Mai 2023</div><div>Aktualisiert am "
            "7. Juni 2023</div>"
        ),
        "2023-05-05",
        "2023-06-07",
    ),
    "update alone": ("<h1>A story</h1><p>Updated 7 June 2023</p>", None, "2023-06-07"),
    "in the text": (
        "<h1>A story</h1><p>" + "It was long after May 5, 2023, as all agreed. " * 9 + "</p>",
        None,
        None,
    ),
    "of another story": (
        (
            "<main><h1>A story</h1><p>2 March 2024</p></main><aside><time datetime=2023-05-05>"
            "</time></aside>"
        ),
        "2024-03-02",
        None,
    ),
    "marked": (
        '<h1>A story</h1><p>7 June 2023</p><span property="datePublished" content="2023-05-05">',
        "2023-05-05",
        None,
    ),
}


@pytest.mark.parametrize(
    ("body", "published", "modified"), SHOWN_DATES.values(), ids=SHOWN_DATES.keys()
)
def test_dates_around_the_headline(body: str, published: str | None, modified: str | None) -> None:
    found = read(f"<body>{body}<p>text</p></body>".encode(), "https://site.test/p").metadata
    assert (found.published, found.modified) == (published, modified)


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("By Ann Lee", "Ann Lee"),
        ("Von Ann van der Lee | 5. Mai 2023", "Ann van der Lee"),
        ("5 May 2023 by Ann Lee", "Ann Lee"),
        ("By the way, this is no name", None),
        ("Stand by me", None),
    ],
)
def test_the_author_around_the_headline(line: str, author: str | None) -> None:
    page = f"<body><h1>A story</h1><p>{line}</p><p>text</p></body>"
    assert read(page.encode(), URL).metadata.author == author


def test_a_heading_wins_over_the_name_of_the_site() -> None:
    head = '<title>The long road home</title><meta property="og:title" content="Example">'
    assert facts(head, "<h1>The long road home</h1>").title == "The long road home"
