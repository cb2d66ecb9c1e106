"""The browser page in Chromium: what people see, with and without scripts."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Page, Request

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1200, "height": 900}


@contextlib.asynccontextmanager
async def opened(
    chromium: Browser, base: str, *, scripts: bool = False, size: dict[str, int] = DESKTOP
) -> AsyncIterator[tuple[Page, list[str]]]:
    """Open a fresh browser profile; the list gathers requests that leave the server."""
    context = await chromium.new_context(
        base_url=base,
        java_script_enabled=scripts,
        viewport={"width": size["width"], "height": size["height"]},
    )
    page = await context.new_page()
    foreign: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith(base):
            foreign.append(request.url)

    page.on("request", note)
    yield page, foreign
    await context.close()


async def test_searching_by_keyboard_alone(chromium: Browser, page_url: str) -> None:
    async with opened(chromium, page_url) as (page, foreign):
        await page.goto("/")
        await page.get_by_label("Search for").press_sequentially("tides harbour")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/?q=*")

        assert await page.title() == "tides harbour – Consilience"
        assert await page.locator("ol.results > li").count() == 3
        first = page.locator("ol.results > li").first
        assert await first.locator(".votes li").all_inner_texts() == ["plain #1", "other #2"]
        chips = page.locator(".engines li")
        assert await chips.locator(".chip").all_inner_texts() == ["ok", "ok", "blocked"]
        link = first.locator("h2 a")
        assert await link.get_attribute("rel") == "noopener noreferrer nofollow"
        assert foreign == []


async def test_a_result_is_read_with_its_evidence(chromium: Browser, page_url: str) -> None:
    async with opened(chromium, page_url, scripts=True) as (page, foreign):
        await page.goto("/?q=tides+harbour")
        await page.get_by_role("link", name="Read Tides").click()
        await page.wait_for_url("**/page?*")

        assert await page.locator("h1").inner_text() == "Tides <script>alert(1)</script>"
        assert "harbour" in await page.locator(".evidence mark").all_inner_texts()
        assert await page.locator(".risk-low").count() == 0
        assert "system prompt" in await page.locator(".warnings").inner_text()
        assert "tide < bank && wait()" in await page.locator("pre").first.inner_text()
        assert await page.locator("script, img, iframe").count() == 0
        assert foreign == []

        await page.get_by_role("link", name="All results").click()
        assert await page.locator("ol.results > li").count() == 3


async def test_nothing_found_is_not_a_failure(chromium: Browser, page_url: str) -> None:
    async with opened(chromium, page_url) as (page, _):
        answer = await page.goto("/?q=tides&engines=none")

        assert answer is not None
        assert answer.status == 200
        assert await page.get_by_role("heading", name="Nothing found").count() == 1
        assert await page.locator(".engines .chip").inner_text() == "empty"


async def test_nothing_found_where_one_was_blocked_is_not_said_of_all(
    chromium: Browser, page_url: str
) -> None:
    async with opened(chromium, page_url) as (page, _):
        await page.goto("/?q=tides&engines=none,shut")

        assert "the others could not say" in await page.locator(".found").inner_text()
        assert await page.locator(".engines .chip").all_inner_texts() == ["empty", "blocked"]


async def test_the_start_says_which_engines_are_asked(chromium: Browser, page_url: str) -> None:
    async with opened(chromium, page_url) as (page, _):
        await page.goto("/")

        assert await page.locator(".asks b").all_inner_texts() == ["plain", "other", "shut"]


async def test_a_phone_shows_what_engines_said_before_the_results(
    chromium: Browser, page_url: str
) -> None:
    async with opened(chromium, page_url, size=PHONE) as (page, _):
        await page.goto("/?q=tides")
        said = await page.locator(".engines li").last.bounding_box()
        found = await page.locator("ol.results").bounding_box()

        assert said is not None
        assert found is not None
        assert said["y"] + said["height"] <= found["y"]


async def test_the_state_of_engines_keeps_its_style_under_its_policy(
    chromium: Browser, page_url: str
) -> None:
    async with opened(chromium, page_url, scripts=True) as (page, foreign):
        broken: list[str] = []
        page.on("console", lambda message: broken.append(message.text))
        await page.goto("/")
        await page.get_by_role("link", name="Engine status").click()
        await page.wait_for_url("**/status")
        pairs = await page.locator(".state, .about").evaluate_all(_COLOURS)
        shape = await page.locator("li").first.evaluate("one => getComputedStyle(one).borderRadius")
        await page.get_by_role("link", name="Search").click()
        await page.wait_for_url(f"{page_url}/")

    assert shape != "0px"
    assert min(_contrast(*pair) for pair in pairs) >= 4.5
    assert (broken, foreign) == ([], [])


async def test_all_blocked_says_so_and_why(chromium: Browser, page_url: str) -> None:
    async with opened(chromium, page_url) as (page, _):
        answer = await page.goto("/?q=tides&engines=shut")

        assert answer is not None
        assert answer.status == 503
        assert "Not one engine answered" in await page.get_by_role("alert").inner_text()
        assert await page.locator(".engines .chip").inner_text() == "blocked"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/?q=a&engines=plane", 404, "plain"),
        ("/?q=a&page=x", 400, "page: must be a whole number"),
        ("/?q=a&kind=<b>", 400, "kind"),
        ("/page?url=javascript:alert(1)", 400, "no address of a page"),
        ("/page?url=http://127.0.0.1/", 0, "127.0.0.1"),
        ("/page", 400, "no address"),
    ],
    ids=["engine", "page", "kind", "script", "loopback", "nothing"],
)
async def test_wrong_input_is_explained_in_the_page(
    chromium: Browser, page_url: str, path: str, status: int, words: str
) -> None:
    async with opened(chromium, page_url) as (page, _):
        answer = await page.goto(path)

        assert answer is not None
        assert answer.status == status or (not status and answer.status >= 400)
        assert words in await page.get_by_role("alert").inner_text()


@pytest.mark.parametrize("path", ["/nothing", "/download/gone", "/search/x"])
async def test_a_wrong_address_is_a_page_with_a_way_on(
    chromium: Browser, page_url: str, path: str
) -> None:
    async with opened(chromium, page_url) as (page, _):
        answer = await page.goto(path)

        assert answer is not None
        assert answer.status == 404
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        await page.get_by_role("alert").get_by_role("link", name="Search").click()
        await page.wait_for_url(f"{page_url}/")


async def test_scripts_in_titles_snippets_and_addresses_stay_text(
    chromium: Browser, page_url: str
) -> None:
    async with opened(chromium, page_url, scripts=True) as (page, foreign):
        await page.goto("/?q=tides&engines=hostile")
        title = await page.locator("ol.results h2").first.inner_text()

        assert title.startswith("<script>")
        assert await page.title() == "tides – Consilience"
        assert await page.locator("script, img").count() == 0
        assert await page.locator("[onclick], [onmouseover], [onerror], [style]").count() == 0
        targets = await page.locator("ol.results h2 a").evaluate_all("all => all.map(a => a.href)")
        assert all(re.match("https?://", target) for target in targets)
        assert foreign == []


async def test_a_query_full_of_markup_stays_text(chromium: Browser, page_url: str) -> None:
    query = '"><script>document.title="owned"</script>'
    async with opened(chromium, page_url, scripts=True) as (page, _):
        await page.goto("/")
        await page.get_by_label("Search for").fill(query)
        await page.get_by_role("button", name="Search").click()
        await page.wait_for_url("**/?q=*")

        assert await page.title() == f"{query} – Consilience"
        assert await page.get_by_label("Search for").input_value() == query


@pytest.mark.parametrize(
    "path", ["/", "/?q=tides&engines=hostile", "/page?url=https://tides.example/&q=tide"]
)
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_nothing_runs_over_the_edge(
    chromium: Browser, page_url: str, path: str, size: dict[str, int]
) -> None:
    async with opened(chromium, page_url, scripts=True, size=size) as (page, _):
        await page.goto(path)

        assert await page.evaluate("document.documentElement.scrollWidth") <= size["width"]


async def test_right_to_left_titles_run_right_to_left(chromium: Browser, page_url: str) -> None:
    async with opened(chromium, page_url, scripts=True) as (page, _):
        await page.goto("/?q=tides&engines=hostile")
        way = "all => all.map(one => getComputedStyle(one).direction)"
        titles = page.locator("ol.results h2")

        assert (await titles.evaluate_all(way))[-1] == "rtl"
        assert await page.evaluate("getComputedStyle(document.body).direction") == "ltr"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_has_contrast_in_both_schemes(
    chromium: Browser, page_url: str, scheme: str
) -> None:
    async with opened(chromium, page_url, scripts=True) as (page, _):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        await page.goto("/?q=tides")
        pairs = await page.locator(".score, .chip, h2 a, .where, .snippet, button").evaluate_all(
            _COLOURS
        )

    assert pairs
    assert min(_contrast(*pair) for pair in pairs) >= 4.5


_COLOURS = """all => all.map(one => {
  const back = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" && node.parentElement ? back(node.parentElement) : colour;
  };
  const parts = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
  return [parts(getComputedStyle(one).color), parts(back(one))];
})"""


def _contrast(one: list[float], other: list[float]) -> float:
    """WCAG 2.2, contrast ratio."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: list[float]) -> float:
    parts = [part / 255 for part in colour]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


async def test_signing_in_and_out(chromium: Browser, guarded_url: str) -> None:
    async with opened(chromium, guarded_url) as (page, _):
        await page.goto("/?q=tides")
        assert page.url == f"{guarded_url}/login?to=%2F%3Fq%3Dtides"
        await page.get_by_label("Token").fill("wrong-token")
        await page.keyboard.press("Enter")
        assert "no token" in await page.get_by_role("alert").inner_text()

        await page.get_by_label("Token").fill("ann-has-a-token")
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"{guarded_url}/?q=tides")
        assert await page.locator("ol.results > li").count() == 3
        (cookie,) = await page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert "ann-has-a-token" not in cookie["value"]
        await page.goto("/status")
        assert "engines" in (await page.content()).lower()

        await page.goto("/")
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_url(f"{guarded_url}/login")
        assert await page.context.cookies() == []
