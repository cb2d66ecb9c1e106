"""Threads: who wrote which post, when, in answer to which; and pages that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://forum.test/t/1"
ONE = "The first post asks at some length how a thing is done, and why not otherwise."
TWO = "The second post answers it, also at some length, with an example of the thing."
THREE = "The third one thanks for that answer, and tells what came of it in the end."
PARAGRAPHS = "".join(
    f"<p>Paragraph {i} of the story tells, at some length, what happened on that day in the town, "
    "and what those who saw it had to say about it, each in turn.</p>"
    for i in range(8)
)


def indented() -> str:
    row = (
        '<tr class="athing comtr" id="{i}"><td><table><tr><td class="ind" indent="{level}"><img '
        'src="s.gif" height="1" width="{width}"></td><td class="votelinks"><a id="up_{i}" '
        'href="vote?id={i}"><div class="votearrow" title="upvote"></div></a></td><td '
        'class="default"><div><span class="comhead"><a href="user?id={name}" class="hnuser">'
        '{name}</a> <span class="age" title="2024-05-0{i}T10:00:00"><a href="item?id={i}">2 hours '
        'ago</a></span> <span class="navs">| <a href="#9">parent</a> | <a href="#8">next</a> '
        '[–]</span></span></div><br><div class="comment"><div class="commtext c00">{text}</div>'
        '<div class="reply"><p><font size="1"><u><a href="reply?id={i}">reply</a></u></font></div>'
        "</div></td></tr></table></td></tr>"
    )
    rows = "".join(
        row.format(i=i, level=level, width=level * 40, name=name, text=text)
        for i, level, name, text in ((2, 0, "ann", ONE), (3, 1, "bob", TWO), (4, 2, "cem", THREE))
    )
    return (
        f'<table id="hnmain"><tr><td><table class="comment-tree">{rows}</table></td></tr></table>'
    )


def nested_comments() -> str:
    comment = (
        '<div class="thing comment" data-author="{name}"><div class="entry"><p class="tagline">'
        '<a href="/user/{name}" class="author">{name}</a> <span class="score">5 points</span> '
        '<time datetime="2024-05-0{i}T10:00:00+00:00">a day ago</time></p><div class="md"><p>'
        '{text}</p></div><ul class="flat-list buttons"><li><a href="/c/{i}">permalink</a></li>'
        '<li><a href="#">reply</a></li></ul></div><div class="child">{inner}</div></div>'
    )
    third = comment.format(i=4, name="cem", text=THREE, inner="")
    second = comment.format(i=3, name="bob", text=TWO, inner=third)
    return (
        '<div class="commentarea">'
        + comment.format(i=2, name="ann", text=ONE, inner=second)
        + "</div>"
    )


def lists_of_lists() -> str:
    item = (
        '<li class="comments_subtree"><div class="comment"><div class="details"><div '
        'class="byline"><a href="/~{name}" class="u-author">{name}</a> <a href="/c/{i}"><time '
        'datetime="2024-05-0{i} 10:00:00">3 hours ago</time></a></div><div class="comment_text">'
        '<p>{text}</p></div></div></div><ol class="comments">{inner}</ol></li>'
    )
    third = item.format(i=4, name="cem", text=THREE, inner="")
    second = item.format(i=3, name="bob", text=TWO, inner=third)
    return "<ol>" + item.format(i=2, name="ann", text=ONE, inner=second) + "</ol>"


def elements_with_attributes() -> str:
    comment = (
        '<shreddit-comment author="{name}" depth="{depth}" permalink="/c/{i}"><div slot="meta"><a '
        'href="/user/{name}">{name}</a> <time datetime="2024-05-0{i}T10:00:00Z">1d</time></div>'
        '<div slot="comment"><p>{text}</p></div>{inner}</shreddit-comment>'
    )
    third = comment.format(i=4, name="cem", text=THREE, depth=2, inner="")
    second = comment.format(i=3, name="bob", text=TWO, depth=1, inner=third)
    return comment.format(i=2, name="ann", text=ONE, depth=0, inner=second)


def three(post: str) -> str:
    """Fill in a post's markup three times, one after the other."""
    return "".join(
        post.format(i=i, name=name, text=text)
        for i, name, text in ((2, "ann", ONE), (3, "bob", TWO), (4, "cem", THREE))
    )


def schema_org() -> str:
    post = (
        '<div itemscope itemtype="http://schema.org/Comment" class="topic-body crawler-post"><div '
        'class="crawler-post-meta"><span class="creator" itemprop="author"><a href="/u/{name}">'
        '<span itemprop="name">{name}</span></a></span> <span class="crawler-post-infos"><time '
        'datetime="2024-05-0{i}T10:00:00Z" class="post-time">May {i}, 2024</time></span></div>'
        '<div class="post" itemprop="text"><p>{text}</p></div></div>'
    )
    return three(post)


def bulletin_board() -> str:
    post = (
        '<div id="p{i}" class="post has-profile bg2"><div class="inner"><dl class="postprofile">'
        '<dt><a href="/member/{i}" class="username">{name}</a></dt><dd>Posts: 12</dd></dl><div '
        'class="postbody"><h3><a href="#p{i}">Re: the thing</a></h3><p class="author">by <strong>'
        '<a href="/member/{i}" class="username">{name}</a></strong> » <time '
        'datetime="2024-05-0{i}T10:00:00+00:00">Thu May {i}, 2024 10:00 am</time></p><div '
        'class="content">{text}</div></div></div></div>'
    )
    return three(post)


def messages() -> str:
    message = (
        '<article class="message message--post js-post" data-author="{name}" id="js-post-{i}">'
        '<div class="message-inner"><div class="message-cell message-cell--user"><h4 '
        'class="message-name"><a href="/members/{i}" class="username">{name}</a></h4></div><div '
        'class="message-cell message-cell--main"><header class="message-attribution"><a '
        'href="/t/1/post-{i}"><time class="u-dt" datetime="2024-05-0{i}T10:00:00+0000">May {i}, '
        '2024</time></a></header><div class="message-userContent"><div class="bbWrapper">{text}'
        '</div></div><footer class="message-footer"><a href="#">Like</a></footer></div></div>'
        "</article>"
    )
    return three(message)


def answers() -> str:
    answer = (
        '<div id="answer-{i}" class="answer" itemprop="suggestedAnswer" itemscope '
        'itemtype="https://schema.org/Answer"><div class="js-vote-count">{i}</div><div '
        'class="s-prose js-post-body" itemprop="text"><p>{text}</p></div><div class="user-info">'
        '<div class="user-action-time">answered <span title="2024-05-0{i} 10:00:00Z" '
        'class="relativetime">May {i} at 10:00</span></div><div class="user-details" '
        'itemprop="author"><a href="/users/{i}">{name}</a></div></div></div>'
    )
    return three(answer)


NESTED = {
    "indented": indented,
    "nested": nested_comments,
    "lists": lists_of_lists,
    "attributes": elements_with_attributes,
}
FLAT = {
    "schema.org": schema_org,
    "bulletin board": bulletin_board,
    "messages": messages,
    "answers": answers,
}


def written(body: str, head: str = "") -> str:
    page = (
        f"<!doctype html><html><head><title>A thread</title>{head}</head><body>{body}</body></html>"
    )
    return read(page.encode(), URL).markdown


@pytest.mark.parametrize("make", NESTED.values(), ids=NESTED.keys())
def test_answers_are_quoted_under_what_they_answer(make: Callable[[], str]) -> None:
    text = written(make())
    posts = text.split("\n\n")
    assert [post.split("**")[1] for post in posts] == ["ann", "bob", "cem"]
    assert [post.split("**")[0] for post in posts] == ["> ", "> > ", "> > > "]
    assert [post.splitlines()[-1].lstrip("> ") for post in posts] == [ONE, TWO, THREE]
    assert all(f"2024-05-0{day}" in post for day, post in enumerate(posts, 2))


@pytest.mark.parametrize("make", FLAT.values(), ids=FLAT.keys())
def test_each_post_stands_under_its_author_and_day(make: Callable[[], str]) -> None:
    posts = written(make()).split("\n\n")
    assert [post.split("**")[1] for post in posts] == ["ann", "bob", "cem"]
    assert all(one in post for one, post in zip((ONE, TWO, THREE), posts, strict=True))
    assert all("2024" in post.splitlines()[0] for post in posts)
    assert not any(word in "".join(posts) for word in ("reply", "Like", "permalink", "votearrow"))


def test_a_question_with_answers_and_comments_on_each() -> None:
    card = (
        '<div class="user-info"><div class="user-action-time">{verb} <span title="2024-05-0{i} '
        '10:00:00Z" class="relativetime">May {i}, 2024 at 10:00</span></div><div '
        'class="user-details" {by}><a href="/users/{i}">{name}</a><span class="reputation-score">'
        "3,926</span><span>9 gold badges</span><span>27 silver badges</span></div></div>"
    )
    post = (
        '<div class="{kind}" data-{kind}id="{i}"><div class="js-voting-container" data-post-id='
        '"{i}"><button>Up</button><div class="js-vote-count">22</div></div><div class="s-prose '
        'js-post-body"><p>{text}</p></div>{cards}<ul class="comments-list"><li class="comment '
        'js-comment"><div class="comment-text"><span class="comment-copy">{comment}</span> – <a '
        'class="comment-user">eve</a> <span class="comment-date"><span title="2024-06-0{i}" '
        'class="relativetime-clean">Jun {i}, 2024 at 9:00</span></span></div></li></ul></div>'
    )
    edited = card.format(verb="edited", i=9, name="dan", by="")
    owner = card.format(verb="answered", i=3, name="bob", by='itemprop="author"')
    asked = card.format(verb="asked", i=2, name="ann", by='itemprop="author"')
    text = written(
        "<main><div class=hero><p>This is a site of questions and answers, open to all.</p></div>"
        '<div itemscope itemtype="https://schema.org/Question"><h1>A thread</h1>'
        + post.format(kind="question", i=2, text=ONE, cards=asked, comment=THREE)
        + post.format(kind="answer", i=3, text=TWO, cards=edited + owner, comment=THREE)
        + "</div></main>"
    )
    assert text.split("\n\n") == [
        f"> **ann** · 2024-05-02\n>\n> {ONE}",
        f"> > **eve** · 2024-06-02\n> >\n> > {THREE}",
        f"> **bob** · 2024-05-03\n>\n> {TWO}",
        f"> > **eve** · 2024-06-03\n> >\n> > {THREE}",
    ]


def test_an_unmarked_date_beside_the_author_is_the_post_s() -> None:
    post = (
        '<li class="postbit"><div class="userinfo"><a class="username">{name}</a> <dl><dd>0{i}.05.'
        '2024, 14:17</dd></dl></div><blockquote class="postcontent">{text}</blockquote><div>0'
        '</div><div class="signature">Intruder</div></li>'
    )
    text = written(
        "<ol>"
        + post.format(name="ann", i=2, text=ONE)
        + post.format(name="bob", i=3, text=TWO)
        + "</ol>"
    )
    assert text == f"> **ann** · 2024-05-02\n>\n> {ONE}\n\n> **bob** · 2024-05-03\n>\n> {TWO}"


def test_what_a_post_quotes_of_another_is_a_quote_in_it() -> None:
    post = (
        '<div class="post"><a class="username">{name}</a><div class="content">{quote}<p>{text}</p>'
        "</div></div>"
    )
    quote = '<div class="bbcode_container"><div class="bbcode_quote"><p>As it was.</p></div></div>'
    text = written(
        post.format(name="ann", text=ONE, quote="") + post.format(name="bob", text=TWO, quote=quote)
    )
    assert text.endswith(f"> **bob**\n>\n> > As it was.\n>\n> {TWO}")


def test_the_post_that_the_page_is_about_stands_unquoted() -> None:
    post = (
        '<article data-testid="tweet"><div data-testid="User-Name"><a href="/{name}">{name}</a>'
        '</div><a href="{link}"><time datetime="2024-05-02T10:00:00Z">2h</time></a><div>{text}'
        "</div></article>"
    )
    text = written(
        post.format(name="ann", link="/t/1", text=ONE)
        + post.format(name="bob", link="/t/2", text=TWO)
    )
    assert text.startswith(ONE)
    assert text.endswith(f"> **bob** · [2024-05-02](https://forum.test/t/2)\n>\n> {TWO}")


def test_the_link_that_a_thread_is_about_is_kept() -> None:
    about = '<p><a href="https://paper.test/x">A thread about the thing</a></p>'
    page = f"<html><head><title>A thread about the thing</title></head><body>{about}{indented()}"
    assert read(page.encode(), URL).markdown.startswith(
        "[A thread about the thing](https://paper.test/x)\n\n> **ann**"
    )


def test_a_text_before_the_posts_is_kept() -> None:
    question = f"<main><h1>A thread</h1><div><p>{ONE}</p></div>{nested_comments()}</main>"
    assert written(question).startswith(f"{ONE}\n\n> **ann**")


@pytest.mark.parametrize("make", [nested_comments, lists_of_lists], ids=["nested", "lists"])
def test_comments_under_an_article_are_left_out(make: Callable[[], str]) -> None:
    story = f'<article class="post"><div class="author">Eve</div>{PARAGRAPHS}</article>'
    text = written(f'{story}<section id="comments">{make()}</section>')
    assert "what happened on that day" in text
    assert ONE not in text
    assert ">" not in text


def test_a_list_of_articles_is_no_thread() -> None:
    teaser = (
        '<article class="post"><h2><a href="/story/{i}">Story number {i} of the day</a></h2><span '
        'class="author">Eve</span><time datetime="2024-05-0{i}">May {i}</time><p>{text}</p>'
        "</article>"
    )
    text = written("".join(teaser.format(i=i, text=ONE) for i in (1, 2, 3)))
    assert "Story number 2" in text
    assert ">" not in text


def test_history_quoted_whole_in_a_letter_is_left_out() -> None:
    letter = (
        '<div data-message-id="{i}"><span email="{name}@mail.test">{name}</span> <span title="May '
        '{i}, 2024, 9:15 AM">May {i}, 2024, 9:15 AM</span><div><div>{text}</div><div '
        'class="gmail_attr">On May 1, Eve wrote:</div><blockquote>Intruder</blockquote></div></div>'
    )
    text = written(
        letter.format(i=2, name="ann", text=ONE) + letter.format(i=3, name="bob", text=TWO)
    )
    assert text.startswith("> **ann** · May 2, 2024, 9:15 AM\n>\n> The first")
    assert "Intruder" not in text
    assert "wrote" not in text


def test_blocks_of_a_thread_are_its_posts() -> None:
    document = read(f"<html><body>{nested_comments()}".encode(), URL)
    assert len(document.blocks) == 3
    second = document.blocks[1]
    assert TWO in document.markdown[second.start : second.end]
    assert second.dom_path.endswith("div:nth-of-type(2) > div:nth-of-type(1)")
