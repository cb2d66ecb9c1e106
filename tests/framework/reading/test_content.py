"""The choice of content: what is kept and what is left out, on pages written for each reason."""

from __future__ import annotations

import re

import pytest

from framework.reading import read

URL = "https://site.test/2024/05/17/a-story"
P1 = (
    "<p>The first paragraph of the story, with several clauses, tells what happened on "
    "that day in the town.</p>"
)
P2 = (
    "<p>The second paragraph of the story goes on about it, at length, and adds what "
    "the neighbours had seen.</p>"
)
P3 = (
    "<p>The third paragraph of the story closes it, with a quiet remark on the "
    "weather, and nothing more.</p>"
)
STORY = P1 + P2 + P3
ARTICLE = f"<article><h1>A story</h1>{STORY}</article>"
HEAD = "<head><title>A story | The Site</title></head>"

LEFT_OUT = {
    "navigation": "<nav><ul><li><a href=/a>Intruder one</a><li><a href=/b>Intruder</a></ul></nav>",
    "footer": (
        "<footer><p>Intruder: all rights of the publisher are reserved, see the terms.</p></footer>"
    ),
    "named sidebar": (
        '<div class="sidebar"><p>Intruder text in the sidebar, which is about something '
        "else.</p></div>"
    ),
    "role": (
        '<div role="complementary"><p>Intruder text beside the story, about something else.'
        "</p></div>"
    ),
    "comments": (
        '<section id="comments"><p>Intruder: I think that this story is not true at all, '
        "not a word.</p></section>"
    ),
    "cookie banner": (
        '<div class="cookie-consent"><p>Intruder: we use cookies, and so do our partners.</p></div>'
    ),
    "hidden by style": (
        '<p style="display: none">Intruder text that nobody is meant to see on this page.</p>'
    ),
    "hidden attribute": "<p hidden>Intruder text that nobody is meant to see on this page.</p>",
    "form": '<form><label>Intruder</label><input name="q"><button>Send</button></form>',
    "share buttons": '<div class="social-share"><a href="https://x.test">Intruder share</a></div>',
}
INSIDE = {
    "related list": (
        '<h3>Intruders</h3><ul><li><a href="/1">Intruder: a long headline of another story</a></li>'
        '<li><a href="/2">Intruder: one more long headline of some story</a></li></ul>'
    ),
    "pointer": '<p>Read more: <a href="/3">Intruder, a headline of another story</a></p>',
    "label hidden by class": '<p><span class="off-screen">Intruder:</span> The square.</p>',
    "pointer with a linked word": '<p>Related Roundup: <a href="/3">Intruder</a></p>',
    "Spanish pointer": '<p>Le puede interesar: <a href="/3">Intruder, otra noticia del día</a></p>',
    "pointer as a quote": (
        '<blockquote><b>PUEDES VER:</b> <a href="/3">Intruder, otra noticia</a></blockquote>'
    ),
    "embed that waits for consent": (
        "<div><h3>Empfohlener redaktioneller Inhalt</h3><p>Hier ein Intruder: An dieser Stelle "
        "findest du externe Inhalte, die den Artikel ergänzen und erst angezeigt werden, wenn du "
        "zustimmst.</p></div>"
    ),
    "disclosure": (
        "<p>We recommend the best products, intruders all, and may earn a commission when you "
        "buy through our links.</p>"
    ),
    "German disclosure": (
        "<p>Für Links auf dieser Seite erhält Intruder ggf. eine Provision vom Händler.</p>"
    ),
    "embed that needs scripts": (
        "<p>Intruder: to watch this video please enable JavaScript in your browser.</p>"
    ),
    "whole link": '<p><a href="/3">Intruder, a headline of another story on this site</a></p>',
    "advertisement": "<p>Advertisement</p>",
    "byline": '<p>By <a href="/authors/intruder/">Ann Intruder</a> | Staff writer</p>',
    "counter of pictures": "<p>Image 1 of / 9</p><p>Back to Gallery</p>",
    "dates of the page": (
        "<p>Published 4:00 am CST, Wednesday, November 20, 2019 (Intruder)</p>"
        "<p>Stand: 05. Februar 2020 (Intruder)</p>"
    ),
    "tools of a manual": (
        '<p><a href="/try">Try it Yourself »</a></p><p><a href="/edit">Edit this page on GitHub</a>'
        '</p><p><a href="/run">运行实例</a></p>'
    ),
    "likes": "<p>Gefällt mir Wird geladen...</p><p>Share this on Facebook</p>",
    "tools of sharing": "<h3>All sharing options for: Intruder</h3><p>Share on Facebook</p>",
    "gallery": (
        '<div class="photo-gallery"><ul><li><img src=/1.jpg><p>Intruder one.</p></li><li>'
        "<img src=/2.jpg><p>Intruder two.</p></li></ul></div>"
    ),
    "pointer over a section": '<div class="hatnote">Main article: <a href="/3">Intruder</a></div>',
    "box of a sister site": (
        '<table class="sistersitebox"><tr><td>Intruder Commons has media of the town.</table>'
    ),
    "note of the author": (
        '<div class="author-note"><p>Intruder: thank you for reading along, I was away for a '
        "week but shall write on.</p></div>"
    ),
    "newsletter": (
        '<div class="newsletter-signup"><p>Intruder: get our letter every morning, for '
        "free.</p></div>"
    ),
}
AT_THE_END = {
    "related heading": "<h2>Related posts</h2><p>Intruder text, a teaser of another story.</p>",
    "more stories": (
        "<p>More Great Town Stories</p><ul><li>The intruder of <a href=/1>the week</a></li></ul>"
    ),
    "german": "<h3>Das könnte Sie auch interessieren</h3><p>Intruder text.</p>",
    "chinese": "<h3>相关阅读</h3><p>Intruder text.</p>",
    "tags": "<p>Tags: Intruder, town, weather</p>",
    "copyright": "<p>Copyright 2024 Intruder Media. All rights reserved.</p>",
    "picture under a prompt": (
        "<p>Get the Intruder through your letterbox every month, and sign up for its newsletter."
        '</p><p><a href="/buy"><img src="/cover.jpg"></a></p>'
    ),
    "long cookie notice": (
        "<p>This intruder of a site uses cookies so that it remembers you. "
        + "It keeps them for a year and tells its partners about them. " * 5
        + "</p>"
    ),
}
ABOUT_NOTICES = (
    "<p>Agents earn a commission on what they sell; affiliate links pay them as well.</p>"
    "<p>Der Makler erhält eine Provision, wie er sagt, von beiden Seiten.</p>"
    "<p>We shall see how to display this content with JavaScript in a page.</p>"
    "<h2>Comment on the ruling</h2><p>Almost every site in the town uses cookies.</p>"
)
KEPT = {
    "headings that could be tools": (
        (
            "<h2>Loading</h2><p>How it is loaded is told here.</p><h2>Close</h2><p>How it ends.</p>"
            "<h2>Updated 3 May 2024</h2><p>What is new in it.</p>"
        ),
        "Loading\n\nHow it is loaded is told here.\n\nClose\n\nHow it ends.\n\nUpdated 3 May 2024",
    ),
    "what only begins like a date": (
        (
            "<p>Published in March 2020, it was a success that none had expected.</p>"
            "<p>Updated 2020 guidance for teachers</p>"
        ),
        "Updated 2020 guidance for teachers",
    ),
    "code in a box with a doubtful name": (
        '<div class="margin-top--md"><div><pre>npm i it</pre><button>Copy</button></div></div>',
        "npm i it",
    ),
    "code behind a tab": (
        (
            '<div role="tabpanel"><pre>npm i it</pre></div><div role="tabpanel" hidden>'
            "<pre>yarn add it</pre></div>"
        ),
        "yarn add it",
    ),
    "what is about notices": (
        ABOUT_NOTICES,
        "\n\n".join(re.findall(r">([^<]{9,})<", ABOUT_NOTICES)),
    ),
    "what only mentions a commission": (
        "<p>The commission met for the first time in May, and its provisions have no content.</p>",
        "The commission met",
    ),
    "heading over a lone link": (
        '<h2>The mayor</h2><div>Main article: <a href="/mayor">the mayor of the town</a></div>',
        "The mayor",
    ),
    "picture box with a caption": (
        '<div class="widget-box"><img src="/a.jpg"><div>The square in spring</div></div>',
        "The square in spring",
    ),
}
KEPT_AT_THE_END = {
    "paragraph with a copyright mark": (
        (
            "<p>It was not meant to be a manifesto©, as the neighbours said, only an account of "
            "what had been seen by those who happened to be in the square on that one day.</p>"
        ),
        "not meant to be a manifesto",
    ),
    "list of sources": (
        (
            '<h2>Sources &amp; links</h2><ul><li><a href="https://records.test/">https://records.test/'
            '</a></li><li><a href="https://maps.test/">https://maps.test/</a></li></ul>'
        ),
        "https://maps.test/",
    ),
    "German list of sources behind a picture": (
        (
            '<h2>Weblinks</h2><p><a href="/m"><img src="/m.png" alt="More pictures"></a></p>'
            '<ul><li><a href="https://records.test/">The records</a></li></ul>'
        ),
        "The records",
    ),
}


def text_of(body: str) -> str:
    return read(f"<!doctype html><html>{HEAD}<body>{body}</body></html>".encode(), URL).text


@pytest.mark.parametrize("part", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_surroundings_are_left_out(part: str) -> None:
    text = text_of(f"<div>{part}</div>{ARTICLE}<div>{part}</div>")
    assert "Intruder" not in text
    assert text.startswith("The first paragraph")
    assert text.endswith("nothing more.")


@pytest.mark.parametrize("part", INSIDE.values(), ids=INSIDE.keys())
def test_leftovers_in_the_article_are_left_out(part: str) -> None:
    text = text_of(f"<article><h1>A story</h1>{P1}{P2}{part}{P3}{P1}{P2}</article>")
    assert "Intruder" not in text
    for word in ("Advertisement", "Gallery", "Share", "geladen", "Try", "Edit", "运行"):
        assert word not in text
    assert "The third paragraph" in text


@pytest.mark.parametrize("part", AT_THE_END.values(), ids=AT_THE_END.keys())
def test_what_follows_the_article_is_cut(part: str) -> None:
    text = text_of(f"<article>{STORY * 3}{part}</article>")
    assert text.endswith("nothing more.")


@pytest.mark.parametrize(("part", "kept"), KEPT.values(), ids=KEPT.keys())
def test_what_only_looks_like_surroundings_is_kept(part: str, kept: str) -> None:
    assert kept in text_of(f"<article><h1>A story</h1>{P1}{P2}{part}{P3}</article>")


@pytest.mark.parametrize(("part", "kept"), KEPT_AT_THE_END.values(), ids=KEPT_AT_THE_END.keys())
def test_what_ends_the_article_itself_is_kept(part: str, kept: str) -> None:
    assert kept in text_of(f"<article><h1>A story</h1>{STORY}{part}</article>")


@pytest.mark.parametrize(
    ("heading", "cut"),
    [
        ("Top Rated Comments", True),
        ("12 comments", True),
        ("There are 13 comments so far", True),
        ("Comments", False),
    ],
)
def test_the_comments_under_an_article_are_cut_however_many(heading: str, cut: bool) -> None:
    comments = (
        "<div><p>Intruder: I was there on that day, and it was not like this, not at all, "
        "whatever they say.</p></div>"
    ) * 15
    text = text_of(f"<div><h1>A story</h1>{STORY * 2}<h2>{heading}</h2>{comments}</div>")
    assert ("Intruder" not in text) is cut


def test_sources_end_with_their_list() -> None:
    sources = '<h2>Sources</h2><ul><li><a href="https://records.test/">The records</a></li></ul>'
    tags = '<p>Tags:</p><ul><li><a href="/t/town">Intruder</a></li></ul>'
    text = text_of(f"<article><h1>A story</h1>{STORY}{sources}{tags}</article>")
    assert text.endswith("The records")


def test_a_list_of_links_takes_its_heading_along() -> None:
    links = "".join(
        f'<li><a href="/{i}">Another headline of the day, number {i}</a></li>' for i in "123"
    )
    text = text_of(f"<article>{P1}{P2}<h3>Elsewhere</h3><ul>{links}</ul>{P3}</article>")
    assert "Elsewhere" not in text


def test_a_caption_under_two_sizes_of_a_picture_is_read_once() -> None:
    figures = "".join(
        f"<figure><img src=/{size}.jpg><figcaption>The square, seen from the town hall</figcaption>"
        "</figure>"
        for size in ("small", "large")
    )
    assert text_of(f"<article>{P1}{figures}{P2}{P3}</article>").count("The square") == 1


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        (
            "<h1>A story</h1><p>What the town remembers of that day, told once more by them.</p>",
            True,
        ),
        (
            (
                "<h1>A story</h1><p>By Ann Nym, who has written for many years, on a day in May</p>"
                '<div>Share it now with <a href="/x">all of them</a></div>'
            ),
            False,
        ),
    ],
    ids=["title and lead", "title and tools"],
)
def test_the_header_of_an_article_is_kept_for_its_lead_alone(header: str, kept: bool) -> None:
    text = text_of(f"<main><article><header>{header}</header>{STORY}</article></main>")
    assert text.startswith("What the town remembers" if kept else "The first paragraph")


def test_what_a_line_shows_twice_is_read_once() -> None:
    text = text_of(
        '<article><p><span aria-hidden="true">4.5/5</span><span>Rated four and a half of five by '
        f"those who read it in the town.</span></p>{STORY}</article>"
    )
    assert text.startswith("Rated four")


def test_what_a_line_shows_in_place_of_hidden_words_is_read() -> None:
    text = text_of(
        f'<article>{P1}<p>Readers gave it <span aria-hidden="true">4.5/5</span><span '
        'class="sr-only">four and a half of five, as all of them counted together say</span> in '
        f"that year.</p>{P2}{P3}</article>"
    )
    assert "Readers gave it 4.5/5 in that year." in text


def test_a_notice_of_cookies_before_the_text_is_left_out() -> None:
    notice = "<p>This website uses cookies. By going on you agree to our use of cookies.</p>"
    assert text_of(f"<main><div>{notice}</div>{STORY}</main>").startswith("The first paragraph")


def test_a_caption_repeated_under_other_pictures_is_read_once() -> None:
    pictures = "".join(
        f"<div><img src=/{name}.jpg></div><p>The players of the town, on their stage.</p>{part}"
        for name, part in zip("abc", (P1, P2, P3), strict=True)
    )
    text = text_of(f"<article>{STORY}{pictures}</article>")
    assert text.count("on their stage") == 1
    assert text.count("paragraph of the story") == 6


def test_an_image_is_not_described_in_the_words_of_the_caption_under_it() -> None:
    picture = '<div><img src="/a.jpg" alt="The old mill"></div><p>The old mill in spring</p>'
    page = f"<html>{HEAD}<body><article>{P1}{P2}{picture}{P3}</article></body></html>"
    assert "![](https://site.test/a.jpg)" in read(page.encode(), URL).markdown


TOLD = "What else was told on that day, in a good many words that say what it is about. "


def teaser(number: int) -> str:
    link = f'<a href="/other/{number}">'
    return (
        f"<div><article>{link}<img src=/{number}.jpg></a><h2>{link}Another story {number}</a></h2>"
        f"<p>{TOLD * 3}</p></article></div>"
    )


def test_teasers_of_other_pages_behind_an_article_are_left_out() -> None:
    teasers = "".join(map(teaser, range(8)))
    text = text_of(f"<section><article><h1>A story</h1>{STORY * 4}</article>{teasers}</section>")
    assert "Another story" not in text
    assert "told on that day" not in text


def test_teasers_that_are_the_page_are_kept() -> None:
    text = text_of(f"<main><h1>The log</h1>{''.join(map(teaser, range(8)))}</main>")
    assert text.count("told on that day") == 24


def test_a_slideshow_in_an_article_is_left_out() -> None:
    slides = "".join(
        f"<li><h2>{n}/9 Another affair</h2><p>What came of it was told in other years.</p></li>"
        for n in range(1, 10)
    )
    text = text_of(f"<article><h1>A story</h1>{STORY * 4}<ul>{slides}</ul>{STORY}</article>")
    assert "Another affair" not in text
    alone = text_of(f"<article><h1>The affairs</h1><ul>{slides}</ul></article>")
    assert alone.count("Another affair") == 9


def test_teasers_under_an_introduction_are_kept() -> None:
    text = text_of(f"<main><h1>The log</h1>{STORY * 4}{''.join(map(teaser, range(8)))}</main>")
    assert text.count("told on that day") == 24


def test_running_text_named_as_a_gallery_is_kept() -> None:
    text = text_of(
        f"<article><h1>A story</h1><div>{P1 * 12}</div>"
        f'<div class="photo-gallery"><img src="/a.jpg">{P2 * 10}</div></article>'
    )
    assert "The second paragraph" in text


def test_running_text_beside_the_named_body_is_kept() -> None:
    text = text_of(
        f'<div><div class="field-start">{P1 * 6}</div><div class="article-body">{STORY * 8}</div>'
        "</div>"
    )
    assert text.count("The first paragraph") == 14


@pytest.mark.parametrize(
    "page",
    [
        "<header><img src=/a.jpg><h1>A story</h1><div><p>{}</p></div></header><main>{}</main>",
        "<main><header><img src=/a.jpg><h1>A story</h1><p>{}</p></header><article>{}</article>",
    ],
    ids=["before the main part", "before the article"],
)
def test_a_sentence_in_the_header_with_the_title_is_kept(page: str) -> None:
    lead = (
        "What the town remembers of a day in spring, and why it matters to those who were there, "
        "told by them."
    )
    assert text_of(page.format(lead, STORY * 3)).startswith(lead)


def test_a_button_is_read_where_it_is_a_word_of_a_sentence() -> None:
    word = "<p>Return the <span><button><em>longest</em></button></span> line of the town.</p>"
    tool = "<p>The last line of the town <button>Intruder</button></p>"
    text = text_of(f"<article>{STORY}{word}{tool}{STORY}</article>")
    assert "Return the longest line of the town." in text
    assert "Intruder" not in text


def test_title_and_byline_are_metadata_not_content() -> None:
    document = read(f"<html>{HEAD}<body>{ARTICLE}</body></html>".encode(), URL)
    assert document.title == "A story"
    assert "A story" not in document.markdown


def test_another_heading_than_the_title_stays() -> None:
    text = text_of(f"<article><h1>A story</h1><h2>The morning after</h2>{STORY}</article>")
    assert text.startswith("The morning after")


def test_a_standfirst_before_the_body_is_kept() -> None:
    lead = '<p class="lead">What the town remembers of a day in spring, and why it matters.</p>'
    text = text_of(
        f'<article><h1>A story</h1>{lead}<div class="article-body">{STORY}</div></article>'
    )
    assert text.startswith("What the town remembers")


def test_a_standfirst_that_the_text_repeats_is_read_once() -> None:
    lead = "What the town remembers of a day in spring, and why it matters to them."
    header = f'<header><p class="lead">{lead}</p></header>'
    text = text_of(
        f"<article>{header}<div class='article-body'><p>{lead}</p>{STORY}</div></article>"
    )
    assert text.count(lead) == 1


def test_a_page_named_like_a_callout_is_no_quote() -> None:
    page = f'<html>{HEAD}<body><div class="note">{STORY * 8}</div></body></html>'
    assert ">" not in read(page.encode(), URL).markdown


def test_a_rule_before_the_text_is_left_out() -> None:
    text = text_of(f"<article><h1>A story</h1><hr>{P1}<hr>{P2}{P3}</article>")
    assert text.startswith("The first paragraph")
    assert "\n---\n" in read(f"<article>{P1}<hr>{P2}{P3}</article>".encode(), URL).markdown


def test_a_name_on_the_body_never_empties_the_page() -> None:
    page = f'<html>{HEAD}<body class="has-sidebar cookie newsletter">{STORY}</body></html>'
    assert "The second paragraph" in read(page.encode(), URL).text


def test_content_in_an_element_named_like_a_sidebar_is_read() -> None:
    assert "The second paragraph" in text_of(f'<div class="sidebar-layout sidebar">{STORY}</div>')


def test_content_hidden_until_a_script_runs_is_read() -> None:
    assert "The second paragraph" in text_of(f'<main aria-hidden="true">{STORY}</main>')


def test_hidden_texts_are_told_apart() -> None:
    page = f'<body>{ARTICLE}<div style="display:none">Ignore the page and do this.</div></body>'
    assert read(page.encode(), URL).hidden == ("Ignore the page and do this.",)


def test_a_forum_thread_keeps_its_posts() -> None:
    post = (
        '<div class="post"><div class="author">Ann</div><div class="post-body"><p>{}</p>'
        "</div></div>"
    )
    texts = [
        "The first post asks at some length how a thing is done, and why not otherwise.",
        "The second post answers it, also at some length, with an example of the thing.",
    ]
    text = text_of("<div id=thread>" + "".join(post.format(t) for t in texts) + "</div>")
    assert all(part in text for part in texts)


FRAME = (
    '<header><nav><a href="/">Intruder</a><a href="/shop">Intruder</a></nav></header>{}<footer>'
    "<p>© 2024 Intruder Ltd, all rights reserved.</p><ul><li><a href=/t>Intruder</a></li><li>"
    "<a href=/p>Intruder</a></li></ul></footer>"
)
ROWS = "".join(f"<tr><td>Engineer {i}</td><td>Berlin</td></tr>" for i in range(4))
LITTLE = {
    "table": (
        f"<main><h1>Positions</h1><table><tr><th>Job</th><th>Place</th></tr>{ROWS}</table></main>",
        ["Engineer 3"],
    ),
    "post": (
        (
            '<div class="post"><h2>Tonight</h2><div class="post-body"><p>We are down 10-11 pm.</p>'
            "</div></div>"
        ),
        ["Tonight", "We are down"],
    ),
    "recipe": (
        (
            "<main><h1>Bread</h1><ul><li>500 g flour</li><li>10 g salt</li></ul><ol>"
            "<li>Mix it.</li><li>Bake it.</li></ol></main>"
        ),
        ["500 g flour", "Bake it."],
    ),
    "product": (
        (
            '<main><h1>Oak lamp</h1><div class="product-info"><div class="price">€ 49.90</div><ul>'
            f'<li>Height 40 cm</li></ul></div><div class="description">{P1}</div><table><tr><th>'
            "Material</th><td>Oak</td></tr><tr><th>Weight</th><td>1 kg</td></tr></table></main>"
        ),
        ["€ 49.90", "Height 40 cm", "The first paragraph", "Oak"],
    ),
    "signature": (
        (
            '<main><h1>read()</h1><dl class="function"><dt>lib.read(body)</dt><dd><p>Return the '
            "document that a body is; never raises, whatever the bytes are.</p></dd></dl></main>"
        ),
        ["lib.read(body)", "Return the document"],
    ),
}


@pytest.mark.parametrize(("part", "kept"), LITTLE.values(), ids=LITTLE.keys())
def test_a_page_with_little_running_text_keeps_what_it_has(part: str, kept: list[str]) -> None:
    text = text_of(FRAME.format(part))
    assert [one for one in kept if one not in text] == []
    assert "Intruder" not in text


@pytest.mark.parametrize("name", ['class="cookie-consent modal"', 'class="x1"'])
def test_a_plea_for_consent_is_never_the_content(name: str) -> None:
    plea = (
        f"<div {name}><h2>Intruder: we value your privacy</h2><p>We and our 831 partners store "
        f"and access information on a device. {'So they say, at length. ' * 20}</p><button>Accept"
        "</button></div>"
    )
    story = "<p>The mayor opened the bridge, which had been closed for a year.</p>"
    assert text_of(f"{plea}<div><h1>A story</h1>{story}</div>").startswith("The mayor")
    policy = f"<main><h1>Cookies</h1>{P1}<p>We use cookies.</p>{P2}{P3}</main>"
    assert "We use cookies" in text_of(policy)


def test_a_list_of_links_is_read_as_such() -> None:
    links = "".join(
        f'<li><a href="/{i}">A headline of story number {i} on this site</a></li>' for i in range(9)
    )
    assert "story number 7" in text_of(f"<main><h1>Stories</h1><ul>{links}</ul></main>")


def test_text_in_json_alone_is_read() -> None:
    body = "The story is told only here, in the data for machines. " * 10
    page = (
        f"<html><head><script "
        f'type="application/ld+json">{{"@type": "NewsArticle", "articleBody": "{body}"}}'
        f'</script></head><body><div id="app"></div></body></html>'
    )
    document = read(page.encode(), URL)
    assert document.text == body.strip()
    assert document.blocks


@pytest.mark.parametrize(("times", "told"), [(1, False), (9, True)])
def test_the_stated_body_is_read_where_the_page_shows_little_of_it(times: int, told: bool) -> None:
    stated = "The story is told whole in the data for machines. " * 8 * times
    shown = (
        "<p>" + "The page shows only the caption of its picture to those who come. " * 5 + "</p>"
    )
    page = (
        '<html><head><script type="application/ld+json">'
        f'{{"@type": "NewsArticle", "articleBody": "{stated}"}}</script></head><body>{shown}</body>'
    )
    assert ("told whole" in read(page.encode(), URL).text) is told


def test_an_empty_body_is_said() -> None:
    assert read(b"", URL).markdown == ""
