"""Redirect wrappers: addresses whose only content is another address.

Only pure redirectors are undone. A translation, an archived copy, a search engine's cache, a
login page that returns somewhere are pages of their own and stay as they are.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from framework.merge.hosts import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from framework.merge.hosts import Host
    from framework.merge.tracking import Pair

__all__ = ["RELATIVE_HOSTS", "redirects", "target"]

#: Names of the parameter that holds the target, by (host or site or brand, path).
_Q_URL = ("url", "q")
_WRAPPERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("google", "/url"): _Q_URL,
    ("google.com", "/url"): _Q_URL,
    ("google", "/aclk"): ("adurl",),
    ("google", "/interstitial"): ("url",),
    ("googleadservices.com", "/pagead/aclk"): ("adurl",),
    ("duckduckgo.com", "/l"): ("uddg",),
    ("bing.com", "/alink/link"): ("url",),
    ("yandex", "/clck/jsredir"): ("url",),
    ("yandex", "/turbo"): ("text",),
    ("ecosia.org", "/url"): ("u", "url"),
    ("qwant.com", "/redirect"): ("url",),
    ("youtube.com", "/redirect"): ("q",),
    ("steamcommunity.com", "/linkfilter"): ("url", "u"),
    ("linkedin.com", "/redir/redirect"): ("url",),
    ("linkedin.com", "/redir/general-malware-page"): ("url",),
    ("linkedin.com", "/safety/go"): ("url",),
    ("facebook.com", "/l.php"): ("u",),
    ("facebook.com", "/flx/warn"): ("u",),
    ("instagram.com", "/"): ("u",),
    ("messenger.com", "/l.php"): ("u",),
    ("threads.com", "/"): ("u",),
    ("threads.net", "/"): ("u",),
    ("whatsapp.com", "/"): ("u",),
    ("out.reddit.com", "*"): ("url",),
    ("umblr.com", "/redirect"): ("z",),
    ("vk.com", "/away.php"): ("to",),
    ("ok.ru", "/dk"): ("st.link",),
    ("exit.sc", "/"): ("url",),
    ("gate.sc", "/"): ("url",),
    ("slack-redir.net", "/link"): ("url",),
    ("disq.us", "/url"): ("url",),
    ("medium.com", "/r"): ("url",),
    ("medium.com", "/m/global-identity"): ("redirecturl",),
    ("medium.com", "/m/global-identity-2"): ("redirecturl",),
    ("zhihu.com", "/"): ("target",),
    ("jianshu.com", "/"): ("t", "to"),
    ("juejin.cn", "/"): ("target",),
    ("csdn.net", "/"): ("target",),
    ("gitee.com", "/link"): ("target",),
    ("douban.com", "/link2"): ("url",),
    ("weibo.com", "/sinaurl"): ("u", "toasturl"),
    ("pixiv.net", "/jump.php"): ("url",),
    ("redirectingat.com", "/"): ("url",),
    ("skimresources.com", "/"): ("url",),
    ("viglink.com", "/"): ("u",),
    ("awin1.com", "/cread.php"): ("ued", "p"),
    ("linksynergy.com", "/deeplink"): ("murl",),
    ("linksynergy.com", "/link"): ("murl",),
    ("protection.outlook.com", "/"): ("url",),
    ("proofpoint.com", "/v1/url"): ("u",),
    ("discordapp.com", "/leaving"): ("url",),
    ("curseforge.com", "/linkout"): ("remoteurl",),
    ("tripadvisor.com", "/externallinkinterstitial"): ("u", "url"),
    ("snapchat.com", "/"): ("link",),
}

#: The redirecting sub-domains; a wrapper row with path "/" is good for these alone.
_REDIRECTING = words("l lm link links out exit away go t r redirect click c gate href safelinks")

#: Whole hosts that do nothing but redirect, where the row's path is "/".
_PURE = frozenset({"exit.sc", "gate.sc"})

#: Relative wrappers, as copied from a results page: path → host that wrote it.
RELATIVE_HOSTS = {"/url": "google.com", "/l": "duckduckgo.com", "/ck/a": "bing.com"}

_WEB = re.compile(r"(?:https?:)?[/\\]{2}[^/\\?#\s]", re.IGNORECASE)
_YAHOO = re.compile(r"/RU=([^/]+)/")
_AMP_CACHE = re.compile(r"/(?:[civ]/)?(?:amp/)?(s/)?([^/]+\.[^/]+(?:/.*)?)")
_MOZILLA = re.compile(r"/v1/[0-9a-f]{16,}/(.+)")
_URLDEFENSE = re.compile(r"/v3/__(https?:/.+?)__(?:;|%3B|$)")


def target(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    """Return the address that a wrapper points to, or None where this is a page of its own.

    `path` has no trailing slash, `pairs` are decoded, `query` is the raw query text.
    """
    found = _from_parameter(host, path, pairs)
    if found is None:
        rule = _SPECIAL.get(host.name) or _SPECIAL.get(host.site) or _SPECIAL.get(host.brand)
        found = rule(host, path, pairs, query) if rule else None
    return found


@lru_cache(maxsize=4096)
def redirects(host: Host) -> bool:
    """Say whether a host is known to have redirect wrappers at all."""
    return any(owner in _OWNERS for owner in _owners(host))


def _owners(host: Host) -> tuple[str, ...]:
    """The names under which a host's rules may stand."""
    return (host.name, host.site, ".".join(host.name.split(".")[-3:]), host.brand)


def _from_parameter(host: Host, path: str, pairs: Sequence[Pair]) -> str | None:
    if not pairs:
        return None
    names = _names(host, path.lower())
    for name in names:
        for key, value in pairs:
            if key.lower() == name and (address := _web(value)):
                return address
    return None


def _names(host: Host, path: str) -> tuple[str, ...]:
    for owner in _owners(host):
        names = _WRAPPERS.get((owner, path)) or _WRAPPERS.get((owner, "*"))
        if names and (path != "/" or _is_redirecting(host.name)):
            return names
    return ()


def _is_redirecting(name: str) -> bool:
    labels = name.split(".")
    return name in _PURE or any(label in _REDIRECTING for label in labels[:-2])


def _web(value: str) -> str | None:
    """Return the value as an http address, decoding once more where it was encoded twice."""
    value = value.strip()
    if not _WEB.match(value) and "%" in value:
        value = unquote(value)
    return value if _WEB.match(value) else None


def _bing(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    """`/ck/a?…&u=a1` and the target in URL-safe base64; `/aclk` and `/aclick` the same."""
    if path.startswith("/amp/"):
        return _amp_cache(host, path, pairs, query)
    if path.lower() not in {"/ck/a", "/aclk", "/aclick"}:
        return None
    token = next((value for key, value in pairs if key == "u"), "")
    for text in (token[2:], token):
        try:
            raw = base64.urlsafe_b64decode(text.replace(" ", "+") + "=" * (-len(text) % 4))
            address = _web(raw.decode("utf-8"))
        except (binascii.Error, ValueError):
            continue
        if address:
            return address
    return _web(token)


def _yahoo(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    """`r.search.yahoo.com/_ylt=…/RU=<encoded target>/RK=…`."""
    found = _YAHOO.search(f"{path}/")
    return _web(unquote(found.group(1))) if found else None


def _google_amp(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    return _amp_cache(host, path, pairs, query) if path.startswith("/amp/") else None


def _amp_cache(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    """`/c/s/host/path`: `c` a page, `s` over TLS."""
    found = _AMP_CACHE.fullmatch(path)
    if found is None or host.name == "cdn.ampproject.org":
        return None
    return f"https://{found.group(2)}{'?' + query if query else ''}"


def _raw_query(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    return _web(query) if path in {"/", "/users/outgoing"} else None


def _mozilla(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    found = _MOZILLA.fullmatch(path)
    return _web(unquote(found.group(1))) if found else None


def _proofpoint(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    """`/v2/url?u=`: percent signs as `-`, slashes as `_`."""
    if path != "/v2/url":
        return None
    token = next((value for key, value in pairs if key == "u"), "")
    return _web(unquote(token.replace("-", "%").replace("_", "/")))


def _urldefense(host: Host, path: str, pairs: Sequence[Pair], query: str) -> str | None:
    found = _URLDEFENSE.match(f"{path}?{query}" if query else path)
    return (
        found.group(1).replace(":/", "://", 1) if found else _proofpoint(host, path, pairs, query)
    )


_SPECIAL: dict[str, Callable[[Host, str, Sequence[Pair], str], str | None]] = {
    "bing.com": _bing,
    "r.search.yahoo.com": _yahoo,
    "search.yahoo.com": _yahoo,
    "google": _google_amp,
    "ampproject.org": _amp_cache,
    "bing-amp.com": _amp_cache,
    "href.li": _raw_query,
    "deviantart.com": _raw_query,
    "mozgcp.net": _mozilla,
    "urldefense.com": _urldefense,
    "proofpoint.com": _proofpoint,
}

_OWNERS = frozenset(owner for owner, _ in _WRAPPERS) | frozenset(_SPECIAL)
