"""The tool `web_fetch`: a page as Markdown, within limits that hold for the whole answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, WithJsonSchema, model_validator

from framework.errors import ConsilienceError
from framework.evidence.injection import mark
from framework.reading import passages, projections, tokens
from framework.reading.windows import Limits, window
from server.pages import PageRequest
from server.tools.base import Arguments, Call, Error, Output, Reply, Tool, failure, untrusted
from server.tools.facts import safety_of, structured_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.reading import Document
    from framework.reading.windows import Window
    from server.app import Application
    from server.pages import Fetched

__all__ = ["TOOL", "WebFetchArguments", "WebFetchOutput"]

#: What the remark on how to go on needs at most, in tokens and in characters; what a page's whole
#: frame is reckoned with where several pages share a limit; what is shown of a page's address.
_REMARK_TOKENS = 45
_REMARK_CHARS = 110
_FRAME_CHARS = 330
_SOURCE_CHARS = 300
_LEAN = "link addresses left out to save tokens; format links lists them"
_GAP = "\n\n[…]\n\n"


class WebFetchArguments(Arguments):
    """What a caller may ask for."""

    url: str | None = Field(default=None, max_length=4_000)
    urls: Annotated[tuple[str, ...], Field(min_length=2, max_length=10)] | None = Field(
        default=None, description="2 to 10 pages that share the limits"
    )
    format: Literal["markdown", "text", "headings", "links", "raw"] = "markdown"
    query: str | None = Field(
        default=None, max_length=2_000, description="Return only passages about this"
    )
    max_chunks: int = Field(default=5, ge=1, le=20)
    selector: str | None = Field(default=None, max_length=500, description="CSS")
    section: str | None = Field(
        default=None, max_length=500, description="A heading, or A > B for one below another"
    )
    max_tokens: int | None = Field(default=None, ge=200, le=200_000)
    max_chars: int = Field(default=50_000, ge=500, le=1_000_000)
    max_bytes: int | None = Field(default=None, ge=500, le=4_000_000)
    max_lines: int | None = Field(default=None, ge=1, le=100_000)
    start_line: int = Field(default=1, ge=1)
    render: Literal["never", "auto", "always"] = "auto"
    render_wait: Literal["load", "networkidle"] = "load"
    reader: Literal["local", "jina", "tavily", "auto", "defuddle"] = "local"
    screenshot: bool = False
    timeout: float = Field(default=20, ge=1, le=60, description="Seconds")

    @model_validator(mode="after")
    def _one_way_to_name_pages(self) -> WebFetchArguments:
        if (self.url is None) == (self.urls is None):
            raise ValueError("either url or urls, and not both")
        if self.selector is not None and self.section is not None:
            raise ValueError("either selector or section, and not both")
        if self.render == "always" and self.reader in {"jina", "tavily"}:
            raise ValueError("a local reader where render is always: rendered pages stay here")
        return self


class TokensOutput(BaseModel):
    """The page's content and what was returned of it, in o200k tokens."""

    raw: int
    returned: int


class Totals(BaseModel):
    """Sizes of the whole content, and of what was returned."""

    lines: int
    bytes: int
    chars: int


class PageOutput(BaseModel):
    """One page; `error` alone where it could not be fetched."""

    url: str
    final_url: str | None = None
    status: int | None = None
    content_type: str | None = None
    title: str | None = None
    description: str | None = None
    domain: str | None = None
    author: str | None = None
    site: str | None = None
    language: str | None = None
    published: str | None = None
    favicon: str | None = None
    image: str | None = None
    word_count: int | None = None
    source: str | None = None
    rendered: bool = False
    content: str | None = None
    structured_data: dict[str, Any] | None = None
    safety: dict[str, Any] | None = None
    fingerprint: str | None = None
    truncated: bool = False
    truncated_by: str | None = None
    total: Totals | None = None
    returned: Totals | None = None
    next_start_line: int | None = None
    warnings: tuple[str, ...] = ()
    tokens: TokensOutput | None = None
    error: Error = None


#: Several pages; their schema is not written out again, since each is like the answer itself.
Pages = Annotated[
    tuple[PageOutput, ...],
    WithJsonSchema({"type": "array", "items": {"type": "object"}}),
]


class WebFetchOutput(Output, PageOutput):
    """A page, or with `urls` several in `pages`; one failure never loses the others."""

    url: str = ""
    pages: Pages | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """What is to be shown of a page, before it is cut."""

    fetched: Fetched
    text: str
    size: int


async def _run(app: Application, given: WebFetchArguments, call: Call) -> Reply[WebFetchOutput]:
    if given.url is not None:
        fetched = await _fetch(app, given.url, given, call)
        part = _part(fetched, given)
        text, page = _cut(part, given, _limits(given, share=1))
        data = WebFetchOutput.model_validate(page.model_dump())
        return Reply(text, data, images=_images([fetched]))
    urls = given.urls or ()
    found = await asyncio.gather(*(_try(app, url, given, call) for url in urls))
    texts, pages = _shared(list(urls), list(found), given)
    shots = [one.fetched for one in found if isinstance(one, _Part)]
    data = WebFetchOutput(url="", pages=tuple(pages))
    return Reply("\n\n".join(texts), data, images=_images(shots))


async def _fetch(app: Application, url: str, given: WebFetchArguments, call: Call) -> Fetched:
    """Read a page, and keep it whole for who asks for the resource of its fingerprint."""
    request = PageRequest(
        url=url,
        render=given.render,
        wait=given.render_wait,
        screenshot=given.screenshot,
        timeout=given.timeout,
    )
    found = await app.read_page(request, given.reader, given.query, given.max_chunks)
    document = found.document
    text = document.markdown if found.safety.risk == "low" else mark(document.markdown)
    body = text.encode("utf-8", "replace")
    app.pages.put(call.caller, document.url, body, id=document.fingerprint)
    return found


async def _try(
    app: Application, url: str, given: WebFetchArguments, call: Call
) -> _Part | ConsilienceError:
    try:
        return _part(await _fetch(app, url, given, call), given)
    except ConsilienceError as error:
        return error


def _images(fetched: Sequence[Fetched]) -> tuple[bytes, ...]:
    return tuple(one.screenshot for one in fetched if one.screenshot)


def _part(fetched: Fetched, given: WebFetchArguments) -> _Part:
    document = _wanted(fetched.document, given)
    if given.format == "markdown":
        shown = projections.lean(document)
        if shown is not document:
            fetched = replace(fetched, warnings=(*fetched.warnings, _LEAN))
            document = shown
    if given.query is None:
        text = projections.project(document, given.format)
    else:
        found = passages.select(
            document, given.query, max_tokens=given.max_tokens, max_chunks=given.max_chunks
        )
        text = _GAP.join(passage.text for passage in found)
    if given.format in {"markdown", "text"} and fetched.safety.risk != "low":
        text = mark(text)
    return _Part(fetched, text, len(text))


def _wanted(document: Document, given: WebFetchArguments) -> Document:
    if given.selector is not None:
        return projections.select(document, given.selector)
    if given.section is not None:
        return projections.section(document, given.section)
    return document


def _limits(given: WebFetchArguments, share: float) -> Limits:
    """The caller's limits less what frames the content, or a share of them."""

    def part(limit: int | None, frame: int) -> int | None:
        return None if limit is None else max(1, int(limit * share) - frame)

    return Limits(
        lines=None if given.max_lines is None else max(1, int(given.max_lines * share)),
        bytes=part(given.max_bytes, _REMARK_CHARS),
        chars=part(given.max_chars, _REMARK_CHARS),
        tokens=part(given.max_tokens, _REMARK_TOKENS),
    )


def _shared(
    urls: Sequence[str], found: Sequence[_Part | ConsilienceError], given: WebFetchArguments
) -> tuple[list[str], list[PageOutput]]:
    """Cut several pages under one budget: small pages leave what they do not need to the others."""
    parts = {url: one for url, one in zip(urls, found, strict=True) if isinstance(one, _Part)}
    shares = _fair({url: part.size for url, part in parts.items()}, given.max_chars)
    texts, pages = [], []
    for url, one in zip(urls, found, strict=True):
        if isinstance(one, _Part):
            text, page = _cut(one, given, _limits(given, share=shares[url]))
        else:
            page = PageOutput(url=url, error=failure(one))
            text = f"{url}: {one}"
        texts.append(text)
        pages.append(page)
    return texts, pages


def _fair(sizes: Mapping[str, int], budget: int) -> dict[str, float]:
    """Return each page's share of the budget, smallest first; what one leaves the next may use."""
    shares: dict[str, float] = {}
    left, rest = 1.0, len(sizes)
    for url, size in sorted(sizes.items(), key=lambda item: item[1]):
        shares[url] = min(left / rest, (size + 2 * _FRAME_CHARS) / budget)
        left -= shares[url]
        rest -= 1
    return shares


def _cut(part: _Part, given: WebFetchArguments, limits: Limits) -> tuple[str, PageOutput]:
    found = part.fetched
    head = _head(found, brief=limits.chars is not None and limits.chars < 1_500)
    source = found.response.url[:_SOURCE_CHARS]
    warnings = [f"Note: {warning}" for warning in found.warnings[:3]]
    if found.safety.risk != "low":
        warnings.append(f"Caution: {found.safety.risk} risk of instructions aimed at you.")
    room = _less(limits, "\n".join([untrusted(f"{head}\n\n", source), *warnings]))
    cut = window(part.text, room, start_line=given.start_line)
    body = untrusted(f"{head}\n\n{cut.text}", source)
    text = "\n".join([body, *_remark(cut), *warnings])
    return text, _page(found, given, cut)


def _less(limits: Limits, frame: str) -> Limits:
    def less(limit: int | None, size: int) -> int | None:
        return None if limit is None else max(1, limit - size)

    return Limits(
        lines=limits.lines,
        bytes=less(limits.bytes, len(frame.encode())),
        chars=less(limits.chars, len(frame)),
        tokens=less(limits.tokens, tokens.count(frame)) if limits.tokens else None,
    )


def _head(found: Fetched, *, brief: bool) -> str:
    facts = found.document.metadata
    title = (facts.title or found.response.url)[:200]
    if brief:
        return title[:120]
    details = [facts.site, facts.author, facts.published, f"{facts.word_count} words"]
    return f"{title}\n{' · '.join(detail[:80] for detail in details if detail)}"


def _remark(cut: Window) -> list[str]:
    if not cut.truncated:
        return []
    where = f"lines {cut.start_line}-{cut.end_line} of {cut.total_lines}"
    more = f"; go on with start_line={cut.next_start_line}" if cut.next_start_line else ""
    return [f"[Cut by max_{cut.truncated_by}: {where}{more}]"]


def _page(found: Fetched, given: WebFetchArguments, cut: Window) -> PageOutput:
    document, response = found.document, found.response
    facts = document.metadata
    return PageOutput(
        url=document.url if given.url is None else given.url,
        final_url=response.url,
        status=response.status,
        content_type=found.content_type or None,
        title=facts.title,
        description=facts.description,
        domain=urlsplit(response.url).hostname,
        author=facts.author,
        site=facts.site,
        language=facts.language,
        published=facts.published,
        favicon=facts.favicon,
        image=facts.image,
        word_count=facts.word_count,
        source=found.source,
        rendered=found.rendered,
        content=cut.text,
        structured_data=structured_of(document),
        safety=safety_of(found.safety),
        fingerprint=document.fingerprint,
        truncated=cut.truncated,
        truncated_by=f"max_{cut.truncated_by}" if cut.truncated_by else None,
        total=Totals(lines=cut.total_lines, bytes=cut.total_bytes, chars=cut.total_chars),
        returned=Totals(lines=cut.lines, bytes=cut.bytes, chars=cut.chars),
        next_start_line=cut.next_start_line,
        warnings=found.warnings,
        tokens=TokensOutput(raw=cut.total_tokens, returned=cut.tokens),
    )


TOOL = Tool(
    name="web_fetch",
    title="Read a page",
    description=(
        "Fetch a web page or PDF and read it as clean Markdown. Use query to get only the "
        "passages about something, section or selector for a part, start_line to go on after a "
        "cut, urls for several pages at once. Returns content with metadata, links to go on and "
        "a safety scan."
    ),
    arguments=WebFetchArguments,
    output=WebFetchOutput,
    run=_run,
)
