"""What a site sees: each mode's TLS, HTTP/2 and headers, against pinned values and Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from framework.types import FetchMode, HttpRequest
from middlewares.handlers.profiles import PROFILES, profile_named
from spiders.client_hello import ClientHello, ja4, parse_client_hello
from spiders.fingerprint import FingerprintServer, what_a_site_sees

if TYPE_CHECKING:
    from spiders.hub import Hub

CHROMIUM_HTTP2 = "1:65536;2:0;4:6291456;6:262144|15663105|0|m,a,s,p"
CHROMIUM_HEADERS = [
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "upgrade-insecure-requests",
    "user-agent",
    "accept",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-user",
    "sec-fetch-dest",
    "accept-encoding",
    "accept-language",
    "priority",
]
#: JA4 and HTTP/2 opening of each profile, as measured; a new version of curl_cffi changes them.
PINNED = {
    "chrome": ("t13d1517h2_8daaf6152771_cb7bf5808d99", CHROMIUM_HTTP2),
    "edge": ("t13d1517h2_8daaf6152771_cb7bf5808d99", CHROMIUM_HTTP2),
    "firefox": (
        "t13d1517h2_8daaf6152771_3cbfd9057e0d",
        "1:65536;2:0;4:131072;5:16384|12517377|0|m,p,a,s",
    ),
    "safari": (
        "t13d2013h2_a09f3c656075_7f0f34a4126d",
        "2:0;3:100;4:2097152;9:1|10420225|0|m,s,a,p",
    ),
}


@pytest.mark.parametrize("name", list(PROFILES))
async def test_a_profile_is_its_browser(name: str) -> None:
    seen = await what_a_site_sees(FetchMode.IMPERSONATE, name)
    assert (seen.ja4, seen.http2) == PINNED[name]
    assert seen.protocol == "h2"
    headers = dict(seen.headers)
    assert headers["sec-fetch-site"] == "none"
    assert headers["sec-fetch-dest"] == "document"
    assert "cache-control" not in headers


@pytest.mark.parametrize(
    ("name", "word"), [("chrome", "Google Chrome"), ("edge", "Microsoft Edge")]
)
async def test_chromium_browsers_keep_chromiums_order(name: str, word: str) -> None:
    seen = await what_a_site_sees(FetchMode.IMPERSONATE, name)
    assert [header for header, _ in seen.headers] == CHROMIUM_HEADERS
    headers = dict(seen.headers)
    assert word in headers["sec-ch-ua"]
    assert ("Edg/" in headers["user-agent"]) == (name == "edge")


async def test_firefox_visits_like_firefox() -> None:
    seen = await what_a_site_sees(FetchMode.IMPERSONATE, "firefox")
    assert [header for header, _ in seen.headers] == [
        "user-agent",
        "accept",
        "accept-language",
        "accept-encoding",
        "upgrade-insecure-requests",
        "sec-fetch-dest",
        "sec-fetch-mode",
        "sec-fetch-site",
        "sec-fetch-user",
        "priority",
        "te",
    ]


async def test_a_requests_own_headers_stand_where_the_browser_puts_them(
    proxy_free_hub: tuple[Hub, FingerprintServer],
) -> None:
    hub, server = proxy_free_hub
    request = HttpRequest(
        url=server.url,
        method="POST",
        headers=(
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Referer", server.url),
            ("Accept-Language", "de"),
        ),
        cookies=(("a", "1"),),
        body=b"q=x",
    )
    await hub.fetch(request, mode=FetchMode.IMPERSONATE)
    seen = server.seen[-1]
    headers = dict(seen.headers)
    names = [header for header, _ in seen.headers]
    assert headers["accept-language"] == "de"
    assert headers["sec-fetch-site"] == "same-origin"
    assert names.index("referer") < names.index("accept-encoding") < names.index("cookie")
    assert names[-1] == "priority"
    assert names[0] == "content-length"
    assert len(names) == len(set(names))


async def test_mode_http_looks_like_no_browser() -> None:
    seen = await what_a_site_sees(FetchMode.HTTP)
    assert [header.lower() for header, _ in seen.headers] == [
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
    ]
    assert dict(seen.headers)["User-Agent"].startswith("consilience/")
    assert (seen.protocol, seen.http2) == ("http/1.1", "")
    assert seen.ja4 not in {known for known, _ in PINNED.values()}


def chromium_version() -> str:
    path = shutil.which("chromium")
    if path is None:
        return ""
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"(\d+)\.\d+", shown.stdout)
    return found[1] if found else ""


@pytest.mark.browser
async def test_an_impersonated_chromium_equals_the_installed_one() -> None:
    major = chromium_version()
    if not major:
        pytest.skip("Chromium is not installed")
    try:
        profile_named(f"chrome{major}")
    except Exception:  # noqa: BLE001
        pytest.skip(f"curl_cffi has no profile of Chromium {major}")
    real = await what_a_site_sees(FetchMode.RENDER)
    ours = await what_a_site_sees(FetchMode.IMPERSONATE, f"chrome{major}")
    assert (ours.ja4, ours.http2) == (real.ja4, real.http2)


def test_an_unknown_browser_is_refused() -> None:
    with pytest.raises(Exception, match="choose from chrome, firefox, safari, edge"):
        profile_named("netscape")


def test_ja4_of_a_known_hello() -> None:
    # The example of JA4's own description: its parts before hashing are given there.
    hello = ClientHello(
        version=0x0304,
        ciphers=(
            *(0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8),
            *(0xC013, 0xC014, 0x009C, 0x009D, 0x002F, 0x0035),
        ),
        extensions=(
            *(0x001B, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002D, 0x000D, 0x0005, 0x0023),
            *(0x0012, 0x002B, 0xFF01, 0x000B, 0x000A, 0x0015),
        ),
        signatures=(0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601),
        alpn=("h2", "http/1.1"),
        named=True,
    )
    assert ja4(hello) == "t13d1516h2_8daaf6152771_e5627efa2ab1"


@pytest.mark.parametrize("message", [b"", b"\x02\0\0\0", b"\x01\0\0\x05\x03\x03", b"GET / HTTP"])
def test_what_is_no_hello_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match=r"no ClientHello|ends early"):
        parse_client_hello(message)
