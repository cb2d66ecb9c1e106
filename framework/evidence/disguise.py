"""Undo what hides words from a plain match: odd characters, look-alikes, codes and spellings."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

from framework.evidence.sieve import set_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

__all__ = ["fold", "hidden_characters", "is_words", "plain", "uncovered"]

#: Letters of other scripts that look like Latin ones (the common part of Unicode's confusables).
_LOOKALIKES = str.maketrans(
    "аеорсухіїјѕһԁԛԝвкмнтгАВЕКМНОРСТУХІЈЅԌαβεικνορτυχγηωΑΒΕΖΗΙΚΜΝΟΡΤΥΧɑɡɩɪʀʏʟɴʜʙᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜱıłøđ",
    "aeopcyxiijshdqwbkmhtrABEKMHOPCTYXIJSGabeikvoptuxynwABEZHIKMNOPTYXagiirylnhbacdejkmoptuvwzsilod",
)
_LOOKALIKE_LETTERS = frozenset(map(chr, _LOOKALIKES))
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0100-\U000e01ef]+"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}")
_ZERO_WIDTH_BITS = re.compile("[\u200b\u200c\u200d\u2060\ufeff]{24,}")
_LEET = str.maketrans("013457@$!|8", "oieastasiib")


def fold(text: str) -> str:
    """Return text in lower case without invisible characters, accents, full-width and look-alike
    letters, for matching only; other scripts stay as they are.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", _mixed(bare)).lower()


_ACCENTS = re.compile("[\u0300-\u036f]+")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[a-zA-Z]")


_STRANGE_LETTER = re.compile(r"[^\W\d_\x00-\x7f]")


def _mixed(text: str) -> str:
    """Replace look-alikes in words that mix them with Latin letters; whole foreign words stay."""
    if not _STRANGE_LETTER.search(text):
        return text
    return _WORD.sub(
        lambda m: m[0].translate(_LOOKALIKES) if _LATIN.search(m[0]) else _whole(m[0]), text
    )


def _whole(word: str) -> str:
    """A word wholly of look-alikes beside Latin text is Latin in disguise only if it reads so."""
    if word.isascii() or not _LOOKALIKE_LETTERS.issuperset(word):
        return word
    latin = word.translate(_LOOKALIKES)
    return latin if latin.lower() in _DISGUISED else word


_DISGUISED = frozenset(
    {
        "a",
        "i",
        "the",
        "to",
        "you",
        "are",
        "act",
        "as",
        "all",
        "ai",
        "system",
        "prior",
        "above",
        "ignore",
    }
)


def hidden_characters(text: str) -> Iterator[tuple[str, str]]:
    """Yield (method, message) for messages spelt in characters that have no shape of their own."""
    if text.isascii():
        return
    for found in _TAGS.finditer(text):
        yield "tag characters", "".join(chr(ord(c) - 0xE0000) for c in found[0])
    for found in _SELECTORS.finditer(text):
        yield "variation selectors", _selector_bytes(found[0])
    for found in _ZERO_WIDTH_BITS.finditer(text):
        for zero, one in (
            "\u200b\u200c",
            "\u200c\u200b",
            "\u200b\u200d",
            "\u200c\u200d",
            "\u200d\u200c",
        ):
            bits = "".join("0" if c == zero else "1" for c in found[0] if c in (zero, one))
            yield "zero-width bits", _from_bits(bits)


def _selector_bytes(run: str) -> str:
    values = [ord(c) - 0xFE00 if ord(c) < 0xFE10 else ord(c) - 0xE0100 + 16 for c in run]
    return bytes(v for v in values if v < 256).decode("utf-8", "ignore")


def _from_bits(bits: str) -> str:
    digits = re.sub(r"[^01]", "", bits)
    data = bytes(int(digits[i : i + 8], 2) for i in range(0, len(digits) - 7, 8))
    return data.decode("utf-8", "ignore")


def is_words(text: str) -> bool:
    """Tell whether a decoded text reads as words: mostly letters and blanks, with a blank in it."""
    if len(text) < 8 or " " not in text.strip():
        return False
    letters = sum(c.isalpha() or c.isspace() for c in text)
    return letters / len(text) > 0.7 and all(c.isprintable() or c.isspace() for c in text)


def _bytes_of(decode: Callable[[str], bytes]) -> Callable[[str], str]:
    def inner(run: str) -> str:
        try:
            return decode(run).decode("utf-8")
        except (binascii.Error, ValueError):
            return ""

    return inner


def _b64(run: str) -> bytes:
    clean = re.sub(r"\s+", "", run).rstrip("=").replace("-", "+").replace("_", "/")
    clean = clean[: len(clean) // 4 * 4 + (len(clean) % 4 if len(clean) % 4 > 1 else 0)]
    return base64.b64decode(clean + "=" * (-len(clean) % 4))


def _b32(run: str) -> bytes:
    clean = run.rstrip("=").upper()
    return base64.b32decode(clean + "=" * (-len(clean) % 8))


def _hexed(run: str) -> bytes:
    return bytes.fromhex(re.sub(r"0x|\\x|[\s:,]", "", run))


def _escapes(run: str) -> str:
    return re.sub(
        r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|U\+([0-9a-fA-F]{4,6})\s?",
        lambda m: chr(min(int(m[1] or m[2] or m[3], 16), 0x10FFFF)),
        run,
    )


def _decimals(run: str) -> str:
    return "".join(chr(int(n)) for n in re.findall(r"\d+", run) if 9 <= int(n) < 0x110000)


_BASE64 = r"(?<![\w+/-])(?:[A-Za-z0-9+/]{16,}|[A-Za-z0-9_-]{16,})={0,2}"
_BASE32 = r"(?<!\w)[A-Z2-7]{24,}={0,6}"
_HEX = r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){12,}(?![0-9a-fA-F])"
_HEX_PAIRS = r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s:,]+){10,}(?:0x)?[0-9a-fA-F]{2}"
_BINARY = r"(?:[01]{8}\s*){8,}"
_DECIMAL = r"(?:\b\d{2,3}[\s,;]+){10,}\d{2,3}\b"
_PERCENT = r"(?:%[0-9a-fA-F]{2}[\w.~!*'()-]{0,8}){6,}"
_ESCAPES = r"(?:(?:\\u\{?[0-9a-fA-F]{4}\}?|\\x[0-9a-fA-F]{2}|U\+[0-9a-fA-F]{4}\s?)[ ,]?){8,}"
_ENTITIES = r"(?:&#x?[0-9a-fA-F]+;\s?){8,}"

#: Runs that look like a code, and how each is undone.
_CODES: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("base64", re.compile(_BASE64), _bytes_of(_b64)),
    ("base32", re.compile(_BASE32), _bytes_of(_b32)),
    ("hex", re.compile(_HEX), _bytes_of(_hexed)),
    ("hex", re.compile(_HEX_PAIRS), _bytes_of(_hexed)),
    ("binary", re.compile(_BINARY), _from_bits),
    ("decimal", re.compile(_DECIMAL), _decimals),
    ("percent", re.compile(_PERCENT), unquote),
    ("escapes", re.compile(_ESCAPES), _escapes),
    ("entities", re.compile(_ENTITIES), html.unescape),
)


#: Stems that betray a message written backwards or turned by rot13.
_STEMS = (
    "ignore",
    "disregard",
    "instruction",
    "system",
    "prompt",
    "reveal",
    "forget",
    "previous",
    "password",
)
_BACKWARDS = re.compile("|".join(stem[::-1] for stem in _STEMS))
_TURNED = re.compile("|".join(codecs.encode(stem, "rot13") for stem in _STEMS))
#: Small words that any English message has, as rot13 and as writing backwards leave them.
_SMALL_TURNED = re.compile(
    r"\b(?:gur|naq|gb|lbhe|lbh|hfre|hfref|nyy|sebz|guvf|guvat|gung|jvgu|abg|sbe|bs)\b"
)
_SMALL_BACKWARDS = re.compile(r"\b(?:eht|dna|ruoy|uoy|resu|lla|morf|siht|taht|htiw|ton|rof)\b")
_LINK = re.compile(r"\b(?:https?://|www\.)\S+")
_LEET_WORD = re.compile(r"\b(?=\w*[a-zA-Z])[\w@$!|]*[013457@$][\w@$!|]*")
_SPACED = re.compile(r"(?<!\w)(?:[^\W\d_][ .\-_*·•|]{1,3}){7,}[^\W\d_](?!\w)")


#: What is not ASCII may be a letter, a digit or a blank in the signs: RE2 knows none of those.
_OTHER = r"\x{80}-\x{10ffff}"
_BLANK = rf"[\s\x0b\x1c-\x1f:,;{_OTHER}]"
_LEET_RUN = rf"[\w@$!|{_OTHER}]*"
_LEET_PAIR = rf"(?:[a-z]{_LEET_RUN}[013457@$]|[013457@$]{_LEET_RUN}[a-z])"
#: What a text in lower case has that is written in one of these ways, by the least length of such
#: a text. In one set they would take fifty times as long: runs of many lengths multiply its states.
_SIGNS: dict[int, dict[str, str]] = {
    16: {_BASE64: r"[a-z0-9+/_-]{16}"},
    24: {_BASE32: r"[a-z2-7]{24}", _HEX: r"[0-9a-f]{24}"},
    4: {
        _HEX_PAIRS: rf"(?:(?:0x|\\x)?[0-9a-f]{{2}}{_BLANK}+){{5}}",
        _BINARY: r"[01]{8}",
        _DECIMAL: rf"(?:[0-9{_OTHER}]{{2,3}}{_BLANK}+){{5}}",
        _PERCENT: r"%[0-9a-f]{2}",
        _ESCAPES: r"\\u\{?[0-9a-f]{4}|\\x[0-9a-f]{2}|u\+[0-9a-f]{4}",
        _ENTITIES: r"&#x?[0-9a-f]+;",
        "hidden": r"[\x{e0020}-\x{e007e}]{4}|[\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}]{8}"
        r"|[\x{200b}-\x{200d}\x{2060}\x{feff}]{24}",
        "reversed": f"{_BACKWARDS.pattern}|{_SMALL_BACKWARDS.pattern}",
        "rot13": f"{_TURNED.pattern}|{_SMALL_TURNED.pattern}",
        "leetspeak": rf"{_LEET_PAIR}.*{_LEET_PAIR}.*{_LEET_PAIR}",
        "spaced letters": rf"(?:[a-z{_OTHER}][ ._*|{_OTHER}-]{{1,3}}){{7}}",
    },
}


_SETS = tuple((least, set_of(signs.values()), tuple(signs)) for least, signs in _SIGNS.items())


def signs_of(text: str) -> list[str]:
    """Name the ways of writing that a text may hold; looking for any other finds nothing."""
    low = text.lower().encode("utf-8", "replace")
    found: list[str] = []
    for least, one, ways in _SETS:
        if len(text) >= least:
            found += [ways[number] for number in one.Match(low) or ()]
    return found


def uncovered(text: str, *, depth: int = 2) -> Iterator[tuple[str, str, str]]:
    """Yield (method, as written, message) for every message the text holds in another spelling.

    Only what reads as words is given; a code within a code is followed once. Linear in the text.
    """
    signs = signs_of(text)
    if not signs:
        return
    for method, pattern, decode in _CODES:
        if pattern.pattern not in signs:
            continue
        for found in pattern.finditer(text):
            message = decode(found[0])
            if is_words(message) and message != found[0]:
                yield method, found[0], message
            if depth > 1 and len(message) >= 16:
                yield from uncovered(message, depth=depth - 1)
    if "hidden" in signs:
        for method, message in hidden_characters(text):
            yield method, "", message
    yield from _respelt(text, signs)


def _respelt(text: str, signs: Collection[str]) -> Iterator[tuple[str, str, str]]:
    if "reversed" in signs:
        for line in _lines(text, _BACKWARDS, _SMALL_BACKWARDS):
            yield "reversed", line, line[::-1]
    if "rot13" in signs:
        for line in _lines(text, _TURNED, _SMALL_TURNED):
            yield "rot13", line, codecs.encode(line, "rot13")
    if "leetspeak" in signs:
        for line in text.splitlines():
            bare = _LINK.sub(" ", line[:2_000])
            if len(_LEET_WORD.findall(bare)) >= 3:
                yield "leetspeak", line, _unleet(bare)
    if "spaced letters" in signs:
        for found in _SPACED.finditer(text):
            yield "spaced letters", "", _unspaced(found[0])


def _unleet(line: str) -> str:
    return re.sub(r"[\w@$!|]+", lambda m: m[0] if m[0].isdigit() else m[0].translate(_LEET), line)


def _unspaced(run: str) -> str:
    """Close up single letters; two or more separators in a row part words."""
    single = re.sub(r"([^\W\d_])[ .\-_*·•|](?=[^\W\d_](?:[^\w]|$))", r"\1", run)
    return re.sub(r"[\s.\-_*·•|]+", " ", single)


def _lines(text: str, stems: re.Pattern[str], small: re.Pattern[str]) -> Iterator[str]:
    for line in text.splitlines():
        lower = line.lower()
        if stems.search(lower) or len(set(small.findall(lower))) >= 2:
            yield line[:4_000]


def plain(text: str) -> str:
    """Return text with blanks run together, at most 200 characters, for a report."""
    short = re.sub(r"\s+", " ", _INVISIBLE.sub("", text)).strip()
    return short if len(short) <= 200 else f"{short[:199]}…"
