"""URL identity: two addresses with the same key are the same page.

Sources: RFC 3986 section 6, the WHATWG URL standard, UTS 46 for names; what lies beyond them
(schemes, `www`, index pages, tracking, views) is common practice and stands in tables. Where a
rule could join two pages it is left out: a missed merge costs less than a wrong one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote_plus

from framework.merge.hosts import Host, fold
from framework.merge.sites import fold_site, fold_view
from framework.merge.tracking import Pair, is_tracking
from framework.merge.wrappers import RELATIVE_HOSTS, redirects, target

__all__ = ["canonical", "unwrap"]

_MAX_CACHED = 2048
#: More rounds than any address needs: each undoes a wrapper or folds a form into a shorter one.
_MAX_ROUNDS = 50

_BLANKS = "".join(map(chr, range(33))) + "\x7f\x85\xa0\u200b\u200e\u200f\ufeff"
_CONTROLS = re.compile(r"[\t\r\n]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?![0-9]+(?:[/?#\\]|$))")
_HOST_FIRST = re.compile(r"[^\s/?#\\@:]+\.[^\s/?#\\@:.]+\.?(?::[0-9]*)?(?:[/?#\\]|$)")
_AUTHORITY_END = re.compile(r"[/\\?#]")
_PORT = re.compile(r":([0-9]*)$")
_DEFAULT_PORTS = {"http": "80", "https": "443"}

#: Visible ASCII without `#`, `?` and the backslash.
_PLAIN = r"!\"$->@-\[\]-~"
#: The usual address: nothing in it has to be cleaned, only its parts to be looked at.
_PLAIN_URL = re.compile(
    r"(https?)://([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    rf"(/(?!/)[{_PLAIN}]*|)(?:\?([?{_PLAIN}]*))?"
)
_PLAIN_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
_PLAIN_TEXT = re.compile(r"[A-Za-z0-9._~-]*")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PATH_SAFE = "/-._~!$&'()*+,;=:@%"
_VALUE_SAFE = "-._~!$'()*,:@/"
#: Characters whose escaped form means something else than the character itself.
_KEPT_ESCAPED = frozenset("/?#%;\\") | frozenset(map(chr, range(33))) | {"\x7f"}

_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;]*", re.IGNORECASE)
_COOKIELESS = re.compile(r"\([A-Za-z]\([A-Za-z0-9]{8,}\)\)")
_INDEX = re.compile(
    r"(?:index\.(?:html?|xhtml|shtml|php[345]?|phtml|aspx?|jspx?|cfm|cgi|pl)"
    r"|default\.(?:html?|aspx?|jsp|php))",
    re.IGNORECASE,
)
_DOI = re.compile(r"(?:doi:)\s*(10\.[0-9]{4,9}/.+)", re.IGNORECASE)


class _Split(NamedTuple):
    scheme: str
    host: str
    port: str
    path: str
    query: str
    fragment: str


def canonical(url: str) -> str:
    """Return the identity key of an address; equal keys mean the same page.

    Total (any text gives a key), idempotent, and never meant to be shown or fetched: the scheme is
    always https, tracking is gone, a redirect wrapper has become its target. Text that is no web
    address comes back without its outer blanks.
    """
    return _cached(url) if len(url) <= _MAX_CACHED else _key(url)


def unwrap(url: str) -> str:
    """Return the address behind redirect wrappers, spelled as the wrapper spells it."""
    for _ in range(_MAX_ROUNDS):
        plain = _PLAIN_URL.fullmatch(url)
        if plain and not redirects(fold(plain.group(2))):
            return url
        inner = _wrapped(_clean(url))
        if inner is None:
            break
        url = inner
    return _clean(url)


def _wrapped(text: str) -> str | None:
    split = _split(_resolve_relative(text))
    if split is None:
        return None
    host = fold(split.host)
    if not redirects(host):
        return None
    path = "/" + "/".join(_segments(split.path))
    return target(host, path, _pairs(split.query), split.query)


@lru_cache(maxsize=8192)
def _cached(url: str) -> str:
    return _key(url)


def _key(url: str) -> str:
    text = _clean(url)
    for _ in range(_MAX_ROUNDS):
        text, done = _round(text)
        if done:
            break
    return text


def _clean(url: str) -> str:
    if _PLAIN_URL.fullmatch(url):
        return url
    text = url.strip(_BLANKS)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROLS.sub("", text)


def _round(text: str) -> tuple[str, bool]:
    """Fold once; the second value says that another round can't change anything."""
    split = _split(_resolve_relative(text))
    if split is None:
        return _other(text)
    host = fold(split.host)
    segments, pairs = _segments(split.path), _pairs(split.query)
    if redirects(host):
        wrapped = target(host, "/" + "/".join(segments), pairs, split.query)
        if wrapped is not None:
            return _clean(wrapped), False
    plain = list(segments)
    fold_view(host, segments)
    name, segments, pairs = fold_site(host, segments, pairs)
    if name != host.name:
        host = fold(name)
    key = _join(host, split.port, segments, _kept(pairs, host), _route(split.fragment, host))
    return key, plain == segments


def _other(text: str) -> tuple[str, bool]:
    """The key of what is no web address: its scheme in lower case, DOIs by their resolver."""
    if found := _DOI.fullmatch(text):
        return f"https://doi.org/{found.group(1)}", False
    scheme, colon, rest = text.partition(":")
    return (f"{scheme.lower()}:{rest}" if colon and _SCHEME.match(text) else text), True


def _resolve_relative(text: str) -> str:
    """Give a relative wrapper, as results pages contain it, the host that wrote it."""
    if text.startswith("/") and not text.startswith(("//", "/\\")):
        path = text.partition("?")[0].rstrip("/")
        if host := RELATIVE_HOSTS.get(path):
            return f"https://{host}{text}"
    return text


def _split(text: str) -> _Split | None:
    """Take a web address apart; None for other schemes and for text without a host."""
    plain = _PLAIN_URL.fullmatch(text)
    if plain:
        return _Split(plain[1], plain[2], "", plain[3], plain[4] or "", "")
    found = _SCHEME.match(text)
    if found:
        scheme, rest = found.group(1).lower(), text[found.end() :]
        if scheme not in _DEFAULT_PORTS:
            return None
    elif text.startswith(("//", "\\\\", "/\\", "\\/")) or _HOST_FIRST.match(text):
        scheme, rest = "https", text
    else:
        return None
    return _split_rest(scheme, rest.lstrip("/\\"))


def _split_rest(scheme: str, rest: str) -> _Split | None:
    end = _AUTHORITY_END.search(rest)
    at = end.start() if end else len(rest)
    authority, tail = rest[:at].rpartition("@")[2].strip(), rest[at:]
    port = _PORT.search(authority)
    host = authority[: port.start()] if port else authority
    number = port.group(1).lstrip("0") if port else ""
    if not host.strip("."):
        return None
    before, _, fragment = tail.partition("#")
    path, _, query = before.partition("?")
    number = "" if number == _DEFAULT_PORTS[scheme] else number
    return _Split(scheme, host, number, path.replace("\\", "/"), query, fragment)


def _segments(path: str) -> list[str]:
    """Return the path's segments without dots, blanks, sessions and index pages."""
    if not _PLAIN_PATH.fullmatch(path):
        path = _PATH_SESSION.sub("", _respell(path, _PATH_SAFE))
    segments: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del segments[-1:]
        elif part and part != "." and not _COOKIELESS.fullmatch(part):
            segments.append(part)
    while segments and _INDEX.fullmatch(segments[-1]):
        segments.pop()
    return segments


def _respell(text: str, safe: str) -> str:
    """Give every character one spelling: plain where that means the same, else upper-case hex."""
    text = _ESCAPES.sub(_unescape, _STRAY_PERCENT.sub("%25", text))
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return quote(text, safe=safe, errors="surrogateescape")


def _unescape(found: re.Match[str]) -> str:
    raw = bytes.fromhex(found.group().replace("%", ""))
    text = raw.decode("utf-8", "surrogateescape")
    return "".join(f"%{ord(c):02X}" if c in _KEPT_ESCAPED else c for c in text)


def _pairs(query: str) -> list[Pair]:
    """Decode a query as a form does; `&amp;` left over from HTML counts as `&`."""
    pairs: list[Pair] = []
    for part in query.split("&") if query else ():
        name, _, value = part.removeprefix("amp;").partition("=")
        if name or value:
            pairs.append((_decode(name), _decode(value)))
    return pairs


def _decode(text: str) -> str:
    if _PLAIN_TEXT.fullmatch(text):
        return text
    return unicodedata.normalize("NFC", unquote_plus(text, errors="surrogateescape"))


def _kept(pairs: list[Pair], host: Host) -> str:
    """Return the query without tracking, sorted by name; equal names keep their order."""
    kept = dict.fromkeys(pair for pair in pairs if not is_tracking(*pair, host))
    return "&".join(map(_encode_pair, sorted(kept, key=_name_of)))


def _name_of(pair: Pair) -> str:
    return pair[0]


def _encode_pair(pair: Pair) -> str:
    name, value = (
        text if _PLAIN_TEXT.fullmatch(text) else quote(text, _VALUE_SAFE, errors="surrogateescape")
        for text in pair
    )
    return f"{name}={value}" if value else name


def _route(fragment: str, host: Host) -> str:
    """Keep a fragment that is a route (`#!…`, `#/…`), without tracking; drop every other."""
    if not fragment.startswith(("!", "/", "%21")):
        return ""
    fragment = fragment.partition(":~:")[0]
    path, _, query = fragment.partition("?")
    path = _respell(path, _PATH_SAFE).rstrip("/")
    kept = _kept(_pairs(query), host)
    if path in {"", "!"} and not kept:
        return ""
    return f"{path or '/'}?{kept}" if kept else path


def _join(host: Host, port: str, segments: list[str], query: str, route: str) -> str:
    return "".join(
        (
            "https://",
            host.name,
            f":{port}" if port else "",
            "/",
            "/".join(segments),
            f"?{query}" if query else "",
            f"#{route}" if route else "",
        )
    )
