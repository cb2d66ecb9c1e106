"""The tool `extract_links`: the links of a page, to go on from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from server.pages import PageRequest
from server.tools.base import Arguments, Call, Output, Reply, Tool, untrusted

if TYPE_CHECKING:
    from framework.reading import Link
    from server.app import Application

__all__ = ["TOOL", "LinksArguments", "LinksOutput"]


class LinksArguments(Arguments):
    """Whose links, and which of them."""

    url: str = Field(min_length=1, max_length=4_000)
    scope: Literal["all", "internal", "external"] = "all"
    contains: str | None = Field(
        default=None, max_length=200, description="In the link's text or address"
    )
    max_links: int = Field(default=200, ge=1, le=1_000)
    render: Literal["never", "auto", "always"] = "auto"
    timeout: float = Field(default=20, ge=1, le=60, description="Seconds")


class LinkOutput(BaseModel):
    """One link: its text, the address as written and absolute, the heading above it."""

    text: str
    href: str
    absolute_url: str
    section: str | None = None


class LinksOutput(Output):
    """The links in the page's order; `total` counts all that fit the wish."""

    url: str = ""
    links: tuple[LinkOutput, ...] = ()
    total: int = 0


async def _run(app: Application, given: LinksArguments, call: Call) -> Reply[LinksOutput]:
    request = PageRequest(url=given.url, render=given.render, timeout=given.timeout)
    fetched = await app.read_page(request)
    wanted = matching(fetched.document.links, fetched.response.url, given.scope, given.contains)
    shown = tuple(
        LinkOutput(
            text=link.text,
            href=link.href,
            absolute_url=link.absolute_url,
            section=link.section or None,
        )
        for link in wanted[: given.max_links]
    )
    data = LinksOutput(url=fetched.response.url, links=shown, total=len(wanted))
    return Reply(_render(data), data)


def matching(
    links: tuple[Link, ...], page: str, scope: str, contains: str | None
) -> tuple[Link, ...]:
    """Return the links that fit, each address once, in their order."""
    host = _site(page)
    word = (contains or "").casefold()
    found: dict[str, Link] = {}
    for link in links:
        inside = _site(link.absolute_url) == host
        if scope != "all" and inside is not (scope == "internal"):
            continue
        if word in link.text.casefold() or word in link.absolute_url.casefold():
            found.setdefault(link.absolute_url, link)
    return tuple(found.values())


def _site(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


def _render(data: LinksOutput) -> str:
    lines = [
        f"- [{(link.text or link.absolute_url)[:120]}]({link.absolute_url})" for link in data.links
    ]
    text = untrusted("\n".join(lines) or "No links.", data.url)
    if len(data.links) < data.total:
        text += f"\n[{len(data.links)} of {data.total} links; max_links or contains shows others]"
    return text


TOOL = Tool(
    name="extract_links",
    title="List a page's links",
    description=(
        "List the links of a page with text, absolute address and section. Use it to find where "
        "to go on; scope and contains narrow it."
    ),
    arguments=LinksArguments,
    output=LinksOutput,
    run=_run,
)
