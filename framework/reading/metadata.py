"""Facts about a page: title, author, dates, site and images, from tags, JSON-LD and markup."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from framework.reading import structured
from framework.reading.datelines import AroundHeadline
from framework.reading.dates import date, url_date
from framework.reading.document import Metadata
from framework.reading.titles import same, without_site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from framework.reading.document import Json
    from framework.reading.headtags import HeadTags
    from framework.reading.links import Resolver

__all__ = ["metadata", "raw_titles", "states_article"]

_BY = re.compile(
    r"^\s*(?:by|von|par|por|di|от|作者|written by|posted by|author|autor|auteur)[\s:：]+", re.I
)
_NOT_A_NAME = re.compile(
    r"https?://|@\w|^\W*$|\d{3,}|^(?:admin|administrator|editor|staff|unknown|anonymous|null|"
    r"undefined|author name)$",
    re.I,
)
_ADDRESS = re.compile(r"\s[\s(|·•–—-]*https?://\S+$")
_NAME_CLASS = re.compile(r"(?:^|\s)(?:byline__name|author-name|author_name|byline-name)(?:\s|$)")
_BYLINE_CLASS = re.compile(
    r"(?:^|\s)(?:(?:[\w-]+[_-])?byline|by-line|post-author|entry-author|article-author|author)"
    r"(?:\s|$)"
)
_AUTHOR_MARKS = (
    '[itemprop="author"], [property="author"], [property="schema:author"], [rel="author"], '
    '[class*="author"], [class*="byline"]'
)
_MARKS_MOST, _NAMES_MOST = 60, 3
_DATE_MARKS = (
    '[itemprop="datePublished"], [property="datePublished"], [property="schema:datePublished"], '
    "time[pubdate], time[datetime]"
)
_DATE_KEYS = frozenset({"itemprop", "pubdate", "property"})
_ARTICLE_TYPES = re.compile(
    r"Article|Posting|Report|WebPage|Recipe|Product|Event|Movie|Book|Review|VideoObject|"
    r"Question|HowTo|Course",
    re.I,
)
_FORUM_TYPES = re.compile(r"DiscussionForumPosting|QAPage|SocialMediaPosting|Conversation")

_TITLE = (
    "og:title",
    "twitter:title",
    "dc.title",
    "dcterms.title",
    "citation_title",
    "parsely-title",
    "sailthru.title",
    "title",
)
_DESCRIPTION = (
    "og:description",
    "description",
    "twitter:description",
    "dc.description",
    "dcterms.abstract",
    "citation_abstract",
    "sailthru.description",
)
_AUTHOR = (
    "author",
    "citation_author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "article:author",
    "byl",
    "byline",
    "twitter:creator",
)
_SITE = (
    "og:site_name",
    "application-name",
    "citation_journal_title",
    "dc.publisher",
    "copyright",
    "apple-mobile-web-app-title",
    "twitter:site",
)
_PUBLISHED = (
    "article:published_time",
    "og:article:published_time",
    "og:published_time",
    "datepublished",
    "citation_publication_date",
    "citation_date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.created",
    "parsely-pub-date",
    "sailthru.date",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "date",
    "article.published",
    "cxenseparse:recs:publishtime",
    "rnews:datepublished",
    "dc.date.created",
)
_MODIFIED = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "revised",
    "lastmod",
)
_IMAGE = (
    "og:image",
    "og:image:url",
    "og:image:secure_url",
    "twitter:image",
    "twitter:image:src",
    "thumbnail",
    "sailthru.image.full",
    "parsely-image-url",
)
_LANGUAGE = ("og:locale", "content-language", "dc.language", "language")


def raw_titles(tags: HeadTags, items: list[dict[str, Json]]) -> tuple[str, ...]:
    """Return every spelling of the title that the head and the JSON-LD give."""
    named = (
        tags.meta.get(name, "")
        for name in ("og:title", "twitter:title", "headline", "title", "dc.title", "citation_title")
    )
    return (
        *named,
        tags.window,
        structured.find(_articles(items), "headline"),
        structured.find(_articles(items), "name"),
    )


def states_article(tags: HeadTags, items: list[dict[str, Json]]) -> bool:
    """Whether the head or the JSON-LD calls the page an article, and no forum's."""
    kinds = " ".join(kind for item in items for kind in structured.texts(item.get("@type")))
    if _FORUM_TYPES.search(kinds):
        return False
    return tags.meta.get("og:type", "") == "article" or "Article" in kinds or "BlogPosting" in kinds


def metadata(
    tree: LexborHTMLParser,
    url: str,
    tags: HeadTags,
    items: list[dict[str, Json]],
    resolve: Resolver,
) -> Metadata:
    """Return the facts that a page states about itself; the word count is filled in by the
    reader."""
    articles = _articles(items)
    site = _site(tags, items)
    around = AroundHeadline(tree)
    published, modified = _dates(tree, url, tags, articles, around)
    return Metadata(
        title=_title(tree, tags, articles, site),
        description=_clean(tags.first(_DESCRIPTION) or structured.find(articles, "description")),
        author=_author(tree, tags, articles, around),
        site=site,
        language=_language(tags, articles),
        published=published,
        modified=modified,
        favicon=_favicon(tags, resolve),
        image=resolve(
            tags.first(_IMAGE)
            or structured.find(articles, "image", "url")
            or structured.find(articles, "thumbnailUrl", "url")
        )
        or None,
        canonical_url=resolve(tags.links.get("canonical") or tags.meta.get("og:url", "")) or None,
    )


def _articles(items: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Return the items that describe the page, articles before the rest."""
    typed = [(" ".join(structured.texts(item.get("@type"))), item) for item in items]
    first = [item for kind, item in typed if _ARTICLE_TYPES.search(kind) and "WebPage" not in kind]
    return first + [item for kind, item in typed if "WebPage" in kind]


def _clean(text: str | None) -> str | None:
    folded = " ".join((text or "").split())
    return folded or None


def _title(
    tree: LexborHTMLParser, tags: HeadTags, articles: list[dict[str, Json]], site: str | None
) -> str | None:
    named = tags.first(_TITLE)
    if named and named == site:
        named = ""
    named = named or _headline(tags, articles)
    if named and named != tags.window and not _is_brand(tree, tags, named):
        return _clean(named)
    if tags.window:
        return _clean(without_site(tags.window, site or ""))
    heading = tree.css_first("h1")
    return _clean(heading.text()) if heading is not None else None


def _is_brand(tree: LexborHTMLParser, tags: HeadTags, named: str) -> bool:
    """Whether a stated title has no word of the window's, which the page's heading repeats."""
    words = set(tags.window.casefold().split())
    if not words or not words.isdisjoint(named.casefold().split()):
        return False
    heading = tree.css_first("h1")
    return heading is not None and same(heading.text(), tags.window)


def _headline(tags: HeadTags, articles: list[dict[str, Json]]) -> str:
    """Return the headline that JSON-LD states, unless the window's title has hardly a word of
    it: a description."""
    headline = structured.find(articles, "headline")
    words = set(headline.casefold().split())
    shared = words & set(tags.window.casefold().split())
    return headline if not tags.window or 2 * len(shared) >= len(words) else ""


def _author(
    tree: LexborHTMLParser,
    tags: HeadTags,
    articles: list[dict[str, Json]],
    around: AroundHeadline,
) -> str | None:
    for item in articles:
        names = [
            name for name in structured.texts(item.get("author")) if not _NOT_A_NAME.search(name)
        ]
        if names:
            return ", ".join(dict.fromkeys(names))
    for key in _AUTHOR:
        name = _name(tags.meta.get(key, ""))
        if name:
            return name
    return _shown_author(tree) or around.author()


def _shown_author(tree: LexborHTMLParser) -> str | None:
    """Return the names that the page shows, by the surest of the marks that it has."""
    marked: dict[int, list[LexborNode]] = {}
    for node in tree.css(_AUTHOR_MARKS)[:_MARKS_MOST]:
        rank = _author_rank(node.attributes)
        if rank is not None:
            marked.setdefault(rank, []).append(node)
    for rank in sorted(marked):
        texts = (n.attributes.get("content") or n.text(separator=" ") for n in marked[rank])
        names = dict.fromkeys(name for text in texts if (name := _name(text)))
        if names:
            return ", ".join(islice(names, _NAMES_MOST))
    return None


def _author_rank(attrs: Mapping[str, str | None]) -> int | None:
    """Return how sure a mark of an author is, 0 the surest, or None for none."""
    if attrs.get("itemprop") == "author" or (attrs.get("property") or "").endswith("author"):
        return 0
    if attrs.get("rel") == "author":
        return 1
    label = attrs.get("class") or ""
    if _NAME_CLASS.search(label):
        return 2
    return 3 if _BYLINE_CLASS.search(label) else None


def _name(text: str | None) -> str | None:
    if not text:
        return None
    folded = _ADDRESS.sub("", _BY.sub("", " ".join(text.split()))).strip(" ,|·•-–—")
    if not folded or len(folded) > 80 or len(folded.split()) > 10 or _NOT_A_NAME.search(folded):
        return None
    return folded


def _site(tags: HeadTags, items: list[dict[str, Json]]) -> str | None:
    named = tags.first(_SITE[:3])
    if named:
        return _clean(named)
    for item in items:
        kind = " ".join(structured.texts(item.get("@type")))
        if "WebSite" in kind and structured.texts(item.get("name")):
            return structured.texts(item.get("name"))[0]
    return _clean(structured.find(_articles(items), "publisher")) or _clean(tags.first(_SITE[3:]))


def _language(tags: HeadTags, articles: list[dict[str, Json]]) -> str | None:
    value = tags.lang or tags.first(_LANGUAGE) or structured.find(articles, "inLanguage")
    return (
        value.split(",")[0].strip().replace("_", "-") or None if value and len(value) < 36 else None
    )


def _dates(
    tree: LexborHTMLParser,
    url: str,
    tags: HeadTags,
    articles: list[dict[str, Json]],
    around: AroundHeadline,
) -> tuple[str | None, str | None]:
    """Return when the page was published and changed: as stated, as marked, as shown near its
    headline, as its address says."""
    published = date(tags.first(_PUBLISHED)) or date(structured.find(articles, "datePublished"))
    modified = date(tags.first(_MODIFIED)) or date(structured.find(articles, "dateModified"))
    if published:
        return published, modified
    marked, timed = _marked_dates(tree)
    if marked:
        return marked, modified
    shown, changed = around.dates()
    return shown or timed or url_date(url), modified or changed


def _marked_dates(tree: LexborHTMLParser) -> tuple[str | None, str | None]:
    """Return the first date that is marked as the page's, and the first of any `time` element."""
    dates: dict[bool, str] = {}
    for node in tree.css(_DATE_MARKS)[:8]:
        attrs = node.attributes
        found = date(attrs.get("content") or attrs.get("datetime") or node.text())
        if found:
            dates.setdefault(not attrs.keys().isdisjoint(_DATE_KEYS), found)
    return dates.get(True), dates.get(False)


def _favicon(tags: HeadTags, resolve: Resolver) -> str | None:
    for name in ("icon", "shortcut", "apple-touch-icon", "mask-icon"):
        if tags.links.get(name):
            return resolve(tags.links[name]) or None
    return resolve("/favicon.ico") or None
