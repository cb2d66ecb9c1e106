"""What class names and ids say about an element: a closed table of words, read once a value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BODY",
    "BOILER",
    "CALLOUT",
    "CALLOUT_KINDS",
    "COMMENT",
    "EMBED",
    "GALLERY",
    "HIDDEN",
    "HINTS",
    "ID_HINTS",
    "LEAD",
    "POST",
    "WEAK",
    "Hints",
]

BOILER = 1
"""The element surrounds the content: navigation, sharing, promotion, related pages."""
WEAK = 2
"""The element often surrounds the content, but holds some of it on other sites."""
BODY = 4
"""The element is named as the body of an article, post or document."""
CALLOUT = 256
"""The element may be a callout or admonition."""
EMBED = 128
"""The element shows something from another site within the text."""
LEAD = 64
"""The element is a standfirst: the paragraph before the body."""
GALLERY = 32
"""The element shows pictures one after another."""
COMMENT = 8
"""The element holds readers' comments."""
POST = 512
"""The element is named as one post of a thread: a comment, an answer, a message."""
HIDDEN = 16
"""The element is hidden by a class name that style frameworks share."""

_BOILER_WORDS = words(
    """
    ad ads adv advert adverts advertisement advertising adsense adslot adunit advertorial
    sponsor sponsored sponsors promo promos promoted promotion promotions taboola outbrain nav
    navbar navigation navi subnav topnav sidenav menu menus submenu megamenu dropdown
    breadcrumb breadcrumbs footer colophon masthead sidebar sidebars siderail rightrail
    leftrail share shares sharing sharedaddy addthis addtoany social socials socialmedia
    sociallinks shareline sharebar sharetools related recommended recommend recommendation
    recommendations recirc recirculation suggested trending popular mostread mostpopular
    newsletter newsletters subscribe subscription signup signin login logout register paywall
    cookie cookies consent gdpr popup modal overlay lightbox tooltip popover toast flyout
    pagination pager paging pagenav prevnext toolbar search searchform searchbox breadcrumbbar
    copyright disclaimer legal byline dateline timestamp tags taglist tagcloud taxonomy
    hashtags skiplink skip jump navbox noprint donotprint nocontent jetpack yarpp zemanta rss
    follow followus rating ratings stars feedback editsection permalink headerlink hatnote
    sistersitebox
    """
)
_WEAK_WORDS = words(
    """
    aside rail widget widgets teaser teasers banner meta metadata author bio avatar credit
    credits links more next prev previous button buttons btn cta icon icons tools actions
    print email date time count counter topics topic categories category keywords form poll
    player video carousel slider top bottom subtitle kicker eyebrow alert notice notification
    warning placeholder loading stories latest featured recent archive archives series tag
    contact info edit toc
    """
)
_BODY_WORDS = words(
    """
    articlebody entrycontent postcontent articlecontent storybody posttext postbody bodytext
    articletext storycontent storytext newstext maincontent contentbody entrytext paragraph
    paragraphs
    """
)
_BODY_PAIRS = frozenset(
    (left, right)
    for left in (
        "article",
        "entry",
        "post",
        "story",
        "news",
        "blog",
        "page",
        "markdown",
        "node",
        "field",
        "text",
        "main",
        "rich",
    )
    for right in ("body", "content", "text", "copy", "main", "article", "story")
) - {("page", "main"), ("main", "main"), ("text", "content")}
_BOILER_PAIRS = frozenset(
    {
        ("most", "read"),
        ("most", "popular"),
        ("read", "more"),
        ("read", "next"),
        ("up", "next"),
        ("also", "like"),
        ("more", "from"),
        ("more", "on"),
        ("more", "news"),
        ("more", "stories"),
        ("more", "articles"),
        ("more", "posts"),
        ("author", "bio"),
        ("author", "note"),
        ("post", "author"),
        ("author", "content"),
        ("author", "profile"),
        ("author", "about"),
        ("user", "bio"),
        ("print", "header"),
        ("print", "footer"),
        ("author", "box"),
        ("author", "info"),
        ("author", "card"),
        ("about", "author"),
        ("author", "description"),
        ("post", "meta"),
        ("entry", "meta"),
        ("article", "meta"),
        ("entry", "footer"),
        ("post", "footer"),
        ("article", "footer"),
        ("article", "header"),
        ("post", "tags"),
        ("side", "bar"),
        ("right", "rail"),
        ("sign", "up"),
        ("mail", "list"),
        ("tool", "bar"),
        ("read", "also"),
        ("see", "also"),
        ("post", "nav"),
        ("nav", "links"),
        ("latest", "news"),
        ("recent", "posts"),
        ("recent", "news"),
        ("print", "only"),
        ("link", "list"),
        ("article", "tools"),
        ("top", "stories"),
        ("page", "header"),
        ("page", "footer"),
        ("site", "header"),
        ("story", "meta"),
        ("you", "may"),
        ("bottom", "links"),
        ("back", "top"),
        ("contact", "block"),
        ("tag", "list"),
        ("tag", "links"),
        ("cat", "links"),
        ("site", "sub"),
    }
)
_LEAD_WORDS = words(
    """
    lead lede intro introduction standfirst dek deck sapo vorspann teasertext anons leadtext
    leadin entrada bajada chapo ingress
    """
)
_LEAD_PAIRS = frozenset(
    {
        ("sub", "headline"),
        ("article", "summary"),
        ("entry", "summary"),
        ("lemma", "summary"),
        ("post", "excerpt"),
        ("article", "description"),
        ("story", "summary"),
    }
)
CALLOUT_KINDS = words("note tip warning important caution danger")
"""The kinds of callouts that are believed as the whole of a class name."""
_CALLOUT_WORDS = words("callout admonition alert hint notice theorem custom") | CALLOUT_KINDS
_COMMENT_WORDS = words(
    """
    comment comments commentlist commentform commentary disqus respond replies commenting
    usercomments discussion livefyre
    """
)
_POST_WORDS = words(
    "comment post reply message answer question tweet status comtr posting postbit postcontainer"
)
_BOILER_STARTS = tuple(
    """
    related recommend newsletter sponsor advert breadcrumb subscri sharing shareb outbrain taboola
    trending mostpop sidebar copyright bookmark widgetized
    """.split()  # noqa: SIM905 - a table of stems
)
_BOILER_ENDS = ("footer", "nav")
_DIGITS = "0123456789"
_STOP_WORDS = words(
    """
    and the of a an to in on for with is how what why und der die das de la le les et en y el
    """
)
_NEGATION = words("no has with without is not hide show hidden non wo data js")
#: What follows names something else: `anchorWithStickyNavbar`.
_JOINING = words("with without has")
_HIDDEN = words(
    """
    hidden hide is-hidden d-none sr-only screen-reader-text visually-hidden visuallyhidden
    visually-hidden-focusable visuallyhidden-focusable u-hidden invisible a11y-hidden
    element-invisible hidden-text assistive-text offscreen off-screen
    """
)
_SHOWN = re.compile(
    r":(?:block|flex|inline|inline-block|grid|table|not-sr-only|visible)\b|"
    r"\bd-(?:\w+-)?(?:block|flex)\b"
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def _table() -> dict[str, int]:
    lists = (
        (_CALLOUT_WORDS, CALLOUT),
        (_WEAK_WORDS, WEAK),
        (_LEAD_WORDS, LEAD),
        (_BODY_WORDS, BODY),
        (_COMMENT_WORDS, COMMENT),
        (_BOILER_WORDS, BOILER),
    )
    table: dict[str, int] = {}
    for entries, hint in lists:
        for word in entries:
            table[word] = hint | (CALLOUT if word in _CALLOUT_WORDS else 0)
    return table


def _pair_table() -> dict[tuple[str, str], int]:
    lists = ((_LEAD_PAIRS, LEAD), (_BODY_PAIRS, BODY), (_BOILER_PAIRS, BOILER))
    return {pair: hint for entries, hint in lists for pair in entries}


_ID_MOST = 40
_WORDS = _table()
_PAIRS = _pair_table()
_PAIR_ENDS = frozenset(right for _, right in _PAIRS)


class Hints(dict[str, int]):
    """Hints by text, worked out when first looked up; all are forgotten when they are many.

    A look-up that is known costs no call: the names of a page are looked up for every element.
    """

    __slots__ = ("_most", "_work_out")

    def __init__(self, work_out: Callable[[str], int], most: int) -> None:
        super().__init__()
        self._work_out, self._most = work_out, most

    def __missing__(self, text: str) -> int:
        if len(self) >= self._most:
            self.clear()
        found = self[text] = self._work_out(text)
        return found


def _of_label(label: str) -> int:
    found = 0
    for token in label.split():
        found |= _TOKENS[token]
    if found & HIDDEN and _SHOWN.search(label):
        found &= ~HIDDEN
    return found


def _of_id(name: str) -> int:
    if len(name) > _ID_MOST:
        return 0
    words = [word for word in _parts(name) if word]
    if len(words) > 3 or not _STOP_WORDS.isdisjoint(words):
        return 0
    return HINTS[name]


def _of_token(token: str) -> int:
    """Return the hints of one name; its last word tells what part of a body is meant."""
    found = HIDDEN if token.lower() in _HIDDEN else 0
    last, previous = 0, ""
    for word in _parts(token):
        if word:
            last = 0
            if previous not in _NEGATION:
                bare = word.rstrip(_DIGITS)
                last = _ALONE[bare]
                if bare in _PAIR_ENDS:
                    last = _PAIRS.get((previous, bare), last)
            found |= last
            previous = word
            if word in _JOINING:
                break
    if last & BOILER:
        return found & ~BODY
    if previous in _POST_WORDS and not found & BOILER:
        found |= POST
    return found & ~BOILER if last & LEAD else found


def _parts(token: str) -> list[str]:
    """Return the words of a class name: `postBody`, `post-body` and `post_body` alike."""
    if token.islower():
        return token.replace("_", "-").replace(":", "-").split("-")
    return [part.lower() for part in _PART.findall(token)]


def _of_word(word: str) -> int:
    known = _WORDS.get(word)
    if known is not None:
        return known
    return _stem(word) if len(word) > 5 else EMBED if word == "embed" else 0


def _stem(word: str) -> int:
    """Return the hint of a word that only starts or ends like one of the tables."""
    if word.startswith(_BOILER_STARTS) or word.endswith(_BOILER_ENDS):
        return BOILER
    if word.startswith("embed"):
        return EMBED
    if "galler" in word or "slideshow" in word or "lightbox" in word or "filmstrip" in word:
        return GALLERY | WEAK
    return GALLERY | WEAK if "thumbnails" in word else 0


HINTS = Hints(_of_label, 16_384)
"""The hints that a class attribute or an id carries, or-ed together."""

ID_HINTS = Hints(_of_id, 8_192)
"""The hints that an id carries; the slug of a heading carries none."""

_TOKENS = Hints(_of_token, 32_768)
_ALONE = Hints(_of_word, 16_384)
