"""The encoding of a page's bytes: marks and proofs first, then the page's own word, then
statistics."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from itertools import islice

import chardet

from framework.reading.wordlist import words

__all__ = ["declared", "decode"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(
    rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{2,40})|"
    rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.\-]{2,40})",
    re.I,
)
_MARKUP = re.compile(rb"\s*<[!?a-zA-Z][a-zA-Z-]{2}")
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{2,40})", re.I)
_UNSEEN_FIRST = (b"s", b"S")
_UNSEEN = ((b"script", b"/script"), (b"style", b"/style"))
_NEAR = 4096
_SAMPLE = 60_000

#: What pages mean by these labels, after the WHATWG encoding standard.
_MEANT = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "x-gbk": "gb18030",
    "hz-gb-2312": "hz",
    "iso8859-1": "cp1252",
    "latin-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "euc_kr": "cp949",
    "ks_c-5601-1987": "cp949",
    "big5": "big5hkscs",
    "utf-8-sig": "utf-8",
    "johab": "cp949",
}
_MULTIBYTE = frozenset(
    {
        "gb18030",
        "big5hkscs",
        "cp932",
        "euc_jp",
        "cp949",
        "euc_jis_2004",
        "shift_jis_2004",
        "shift_jisx0213",
    }
)
_LATIN = words(
    """
    cp1252 cp1250 cp1254 cp1257 cp1258 iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-9
    iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 mac-roman
    """
)
_FOREIGN = re.compile(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*")
_CASED = words(
    """
    cp1251 koi8-r koi8-u iso8859-5 cp866 cp855 mac-cyrillic cp1253 iso8859-7
    """
)
_SIGN = re.compile(r"[^\w\s\x00-\x7f]")
_LATIN_LETTER = re.compile("[A-Za-z]")
_DOS = words(
    """
    cp437 cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865
    cp869 cp1006 cp1125 cp720 cp037 cp500 cp875 cp1026 cp1140 cp273 cp424
    """
)
_UNPROVEN = frozenset({"utf-8", "cp1252"})


@lru_cache(maxsize=256)
def _codec(label: str) -> str:
    """Return the codec that a label means, or an empty text for an unknown one."""
    name = label.strip().lower()
    if name.startswith("x-sjis") or name == "windows-31j":
        return "cp932"
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    if known in (
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-7",
        "idna",
        "punycode",
        "unicode_escape",
        "raw_unicode_escape",
        "undefined",
    ) or known.endswith("_codec"):
        return ""
    return _MEANT.get(name, _MEANT.get(known, known))


def declared(body: bytes, content_type: str = "") -> tuple[str, ...]:
    """Return the codecs that the header and the page name, in that order."""
    found = []
    match = _HEADER.search(content_type)
    if match:
        found.append(_codec(match[1]))
    near = _META.search(body[:_NEAR])
    if near:
        found.append(_codec((near[1] or near[2]).decode("ascii", "replace")))
    return tuple(dict.fromkeys(name for name in found if name))


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text of a page and the name of its encoding; never raises.

    In order: a byte order mark, UTF-16 by its zero bytes, ISO-2022-JP by its escapes, strict
    UTF-8, the declared encoding if it decodes without an error and looks written, statistics on
    the visible bytes, windows-1252.
    """
    certain = _certain(body)
    if certain is not None:
        return certain
    claims = declared(body, content_type)
    name, sure = _detect(body)
    for claim in claims:
        if claim in _UNPROVEN or (sure and _is_another_script(body, name, claim)):
            continue
        text = _strict(body, claim)
        if text is not None and plausible(text, claim):
            return text, claim
    if "cp1252" in claims and (name in _DOS or (name in _LATIN and not sure)):
        name = "cp1252"
    if name == "cp1252" and "utf-8" in claims:
        damaged = body.decode("utf-8", "replace")
        if damaged.count("\ufffd") * 50 < sum(char > "\x7f" for char in damaged):
            return damaged, "utf-8"
    return body.decode(name, "replace"), name


def _certain(body: bytes) -> tuple[str, str] | None:
    """Return the decoding that the bytes themselves prove, or None."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace").lstrip("\ufeff"), name.removesuffix("-sig")
    wide = _wide(body)
    if wide:
        return body.decode(wide, "replace"), wide
    if b"\x1b" in body and (b"\x1b$" in body or b"\x1b(J" in body):
        text = _strict(body, "iso2022_jp")
        if text is not None:
            return text, "iso-2022-jp"
    text = _utf8(body)
    return (text, "utf-8") if text is not None else None


def _is_another_script(body: bytes, name: str, claim: str) -> bool:
    return name in _MULTIBYTE and name != claim and _strict(body, name) is not None


def plausible(text: str, name: str) -> bool:
    """Whether a decoded text looks written: letters of foreign scripts don't stand inside Latin
    words,
    capitals don't follow small letters in most words."""
    if name in _LATIN:
        return True
    sample = text[:200_000]
    words = [match[0] for match in islice(_FOREIGN.finditer(sample), 400)]
    strange = sum(bool(_LATIN_LETTER.search(word)) or _is_jumbled(word) for word in words)
    if strange * 2 > len(words):
        return False
    long = [word for word in words if len(word) > 2]
    if name in _CASED and len(long) > 5 and sum(word.isupper() for word in long) > 0.6 * len(long):
        return False
    signs, letters = len(_SIGN.findall(sample)), sum(map(len, words))
    return len(words) == 400 or signs <= letters


def _is_jumbled(word: str) -> bool:
    return len(word) > 2 and word[1:].lower() != word[1:] and not word.isupper()


def _strict(body: bytes, name: str) -> str | None:
    try:
        return body.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None


def _utf8(body: bytes) -> str | None:
    """Decode as UTF-8; a character cut at the very end or one stray byte in a long text is
    forgiven."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(body) - 3 and error.start > 0:
            return body[: error.start].decode("utf-8", "replace")
    return None


def _wide(body: bytes) -> str:
    """Return the UTF-16 that many zero bytes in one parity show, or an empty text; markup in
    single bytes shows that they are stray."""
    head = body[:2000]
    if _MARKUP.match(head):
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if len(head) < 8 or 16 * max(even, odd) < len(head):
        return ""
    if odd > 4 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 4 * odd else ""


def _visible(body: bytes) -> bytes:
    """Return the bytes between tags, those of scripts and styles left out; in one pass."""
    parts: list[bytes] = []
    inside = b""
    for part in body.split(b"<"):
        if inside or part[:1] in _UNSEEN_FIRST:
            head = part[:8].lower()
            if inside:
                inside = b"" if head.startswith(inside) else inside
                continue
            inside = next((end for start, end in _UNSEEN if head.startswith(start)), b"")
            if inside:
                continue
        parts.append(part[part.find(b">") + 1 :] if parts else part)
    return b" ".join(parts)


def _detect(body: bytes) -> tuple[str, bool]:
    """Return the codec that statistics on the visible bytes find, and whether they are sure."""
    sample = _visible(body[: _SAMPLE * 8])[:_SAMPLE]
    found = chardet.detect(sample, exclude_encodings=_DOS)
    name = _codec(found["encoding"] or "windows-1252") or "cp1252"
    return name, (found["confidence"] or 0.0) > 0.85
