"""JSON's rows and their fields: lists of objects, and what their keys and values look like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from framework.authoring.draft import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from framework.authoring.draft import Pick

__all__ = ["json_drafts"]

_DEEPEST = 6
_SHOWN = 30
_MARKUP = re.compile(r"<[a-zA-Z/][^>]*>|&(?:[a-zA-Z]+|#\d+);")
_IDENT = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ISO = re.compile(r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}.*)?)?")
_CODE = re.compile(r"[A-Za-z]{0,3}[0-9][\w-]*|[0-9a-f-]{16,}", re.ASCII)
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ADDRESS = re.compile(r"(?:https?:)?//\S+")
_PATH = re.compile(r"/[\w%-]+(?:[/.?][\w%./?=&-]*)?")
_API = re.compile(r"//api\.|/api/|\.json(?:$|\?)")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|ico|pdf)(?:$|\?)", re.IGNORECASE)

_TITLES = ("title", "headline", "full_name", "name", "label", "subject", "heading", "question")
_LINKS = (
    "html_url",
    "url",
    "link",
    "href",
    "web_url",
    "weburl",
    "permalink",
    "page",
    "uri",
    "site",
)
_TEXTS = (
    "snippet", "description", "abstract", "summary", "content", "excerpt", "extract", "text",
    "body", "teaser", "lead",
)  # fmt: skip
_DATES = ("published", "date", "created", "updated", "time", "issued", "timestamp")
_PICTURES = ("thumbnail", "image", "img", "picture", "photo", "cover")
_NOT_A_PAGE = re.compile(
    r"thumb|image|img|icon|logo|avatar|photo|pdf|api|license|licence|download|_urls?$"
)


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of the rows, with its values in some of them."""

    path: tuple[str, ...]
    values: tuple[object, ...]
    """One for each row, None where it is missing."""

    @property
    def name(self) -> str:
        return self.path[-1].lower()

    @property
    def jmes(self) -> str:
        return ".".join(_quoted(part) for part in self.path)

    def texts(self) -> list[str]:
        return [text for value in self.values if (text := _text(value))]

    @property
    def share(self) -> float:
        return len(self.texts()) / len(self.values)


def json_drafts(data: object, address: str, limit: int = 3) -> list[Draft]:
    """Return drafts for the rows of a JSON answer that came from an address, the best first."""
    drafts = [
        draft for path, rows in _lists(data) if (draft := _draft(path, rows, address)) is not None
    ]
    return sorted(drafts, key=lambda draft: -draft.score)[:limit]


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return name if _IDENT.fullmatch(name) else f'"{escaped}"'


def _lists(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, list[object]]]:
    """Yield every list of objects with its path; lists within lists are joined."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for name, item in value.items():
            below = f"{path}.{_quoted(name)}" if path else _quoted(name)
            yield from _lists(item, below, depth + 1)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        rows: list[object] = [item for item in value if isinstance(item, dict)]
        yield f"{path}[]", rows
        yield from _joined(rows, f"{path}[]", depth + 1)


def _joined(rows: list[object], path: str, depth: int) -> Iterator[tuple[str, list[object]]]:
    """Yield the lists that the rows themselves hold, each joined over all rows."""
    names = dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row)
    for name in names:
        inner: list[object] = []
        for row in rows:
            item = row.get(name) if isinstance(row, dict) else None
            if isinstance(item, list):
                inner += [one for one in item if isinstance(one, dict)]
        if inner:
            yield from _lists(inner, f"{path}.{_quoted(name)}", depth)


def _draft(path: str, rows: list[object], address: str) -> Draft | None:
    shown = [row for row in rows[:_SHOWN] if isinstance(row, dict)]
    keys = list(_keys(shown))
    title = _best(keys, _title_worth)
    if title is None:
        return None
    others = [key for key in keys if key is not title]
    link = _best(others, _link_worth)
    made = _made_address(keys, title, address)
    picks = [pick for pick in (link.jmes if link else None, made) if pick is not None]
    if not picks:
        return None
    whole = link is not None and link.share == 1
    fields: dict[str, Pick | list[Pick]] = {
        "title": _worded(title),
        "url": picks[0] if whole or len(picks) == 1 else picks,
    }
    worth = _title_worth(title) + (_link_worth(link) if link else 0.0)
    fields |= _further([key for key in keys if key not in (title, link)])
    depth = path.count("[]") + 0.3 * path.count(".")
    score = worth * min(len(rows), 10) ** 0.5 / (0.5 + 0.5 * depth) + 0.2 * len(fields)
    return Draft(format="json", each=path, fields=fields, rows=len(rows), score=score)


def _keys(rows: Sequence[Mapping[str, object]], above: tuple[str, ...] = ()) -> Iterator[_Key]:
    names = dict.fromkeys(name for row in rows for name in row)
    for name in names:
        values = tuple(row.get(name) for row in rows)
        yield _Key((*above, name), values)
        inner = [value if isinstance(value, dict) else {} for value in values]
        if len(above) < 2 and any(inner):
            yield from _keys(inner, (*above, name))


def _text(value: object) -> str:
    """Return what an engine would read: a text, or the first text of a list."""
    if isinstance(value, list):
        value = next((item for item in value if item is not None), None)
    return value.strip() if isinstance(value, str) else ""


def _best(keys: Sequence[_Key], worth: Callable[[_Key], float]) -> _Key | None:
    rated = [(worth(key), -index, key) for index, key in enumerate(keys)]
    best = max(rated, default=None, key=lambda item: item[:2])
    return best[2] if best and best[0] > 0.5 else None


def _named(key: _Key, names: Sequence[str]) -> float:
    """Return how well a key's name fits: 1 for the first of the names, less for parts of them.

    A key inside an object of a fitting name (`headline.main`) fits almost as well.
    """
    own = _fits(key.name, names)
    return max(own, 0.95 * _fits(key.path[-2].lower(), names)) if len(key.path) > 1 else own


def _fits(name: str, names: Sequence[str]) -> float:
    if name in names:
        return 1.0 - 0.04 * names.index(name)
    return 0.45 if any(part in name for part in names) else 0.0


def _title_worth(key: _Key) -> float:
    texts = key.texts()
    if not texts or _ADDRESS.match(texts[0]) or key.share < 0.5:
        return 0.0
    named = _named(key, _TITLES)
    length = mean(map(len, texts))
    words = 1.0 if 8 <= length <= 160 else 0.5
    distinct = len(set(texts)) / len(texts)
    dull = 0.6 if all(_ISO.match(text) or _DOI.match(text) for text in texts) else 0.0
    dull += 0.8 * mean(bool(_CODE.fullmatch(text)) for text in texts)
    return (2 * named + 0.6 * words) * key.share * (0.4 + 0.6 * distinct) - _depth(key) - dull


def _link_worth(key: _Key) -> float:
    texts = key.texts()
    named = _named(key, _LINKS)
    addresses = [t for t in texts if _ADDRESS.fullmatch(t) or (named and _PATH.fullmatch(t))]
    if not addresses or len(addresses) < 0.8 * len(texts):
        return 0.0
    worth = 1.2 + named + 0.3 * ("html" in key.name) - 0.5 * addresses[0].startswith("/")
    worth -= 0.9 * bool(_API.search(addresses[0]))
    worth -= 0.9 * bool(_PICTURE.search(addresses[0]) or _NOT_A_PAGE.search(key.name))
    worth -= 0.6 * any("{" in text for text in addresses)
    distinct = len(set(addresses)) / len(addresses)
    return worth * key.share * (0.3 + 0.7 * distinct) - _depth(key)


def _depth(key: _Key) -> float:
    return 0.25 * (len(key.path) - 1)


def _made_address(keys: Sequence[_Key], title: _Key, address: str) -> Pick | None:
    """Return an address made of an identifier: a DOI's, a wiki's by title, a site's by its id."""
    for key in keys:
        texts = key.texts()
        if texts and key.share > 0.5 and all(_DOI.fullmatch(text) for text in texts):
            return {"jmes": key.jmes, "do": [{"prefix": "https://doi.org/"}]}
    parts = urlsplit(address)
    if parts.path.endswith("/api.php"):
        wiki = f"{parts.scheme}://{parts.netloc}/wiki/"
        return {"jmes": title.jmes, "do": [{"replace": [" ", "_"]}, {"prefix": wiki}]}
    return _by_id(keys, parts.hostname or "")


def _by_id(keys: Sequence[_Key], host: str) -> Pick | None:
    """Return an address below the site's own, to be looked over by the author."""
    site = re.sub(r"^(?:www|api)\.", "", host)
    home = f"https://{'www.' if site.count('.') == 1 else ''}{site}/"
    for key in keys:
        kind = re.fullmatch(r"(?:([a-z]+)_?)?(?:id|key|slug|identifier)", key.name)
        values = [value for value in key.values if isinstance(value, str | int)]
        if kind and len(set(values)) == len(key.values) and len(key.path) <= 2:
            folder = f"{kind[1]}/" if kind[1] else ""
            return {"jmes": key.jmes, "do": [{"prefix": f"{home}{folder}"}]}
    return None


def _further(keys: Sequence[_Key]) -> dict[str, Pick | list[Pick]]:
    fields: dict[str, Pick | list[Pick]] = {}
    text = _best(keys, _text_worth)
    if text is not None:
        fields["snippet"] = _optional(_worded(text))
    date = _best(keys, _date_worth)
    if date is not None:
        iso: list[object] = [{"date": {"formats": ["iso"]}}]
        fields["published"] = {"jmes": date.jmes, "do": iso, "optional": True}
    picture = _best(keys, _picture_worth)
    if picture is not None:
        fields["thumbnail"] = {"jmes": picture.jmes, "optional": True}
    return fields


def _text_worth(key: _Key) -> float:
    texts = key.texts()
    if not texts or _ADDRESS.match(texts[0]) or _ISO.fullmatch(texts[0]):
        return 0.0
    length = mean(map(len, texts))
    if length < 20:
        return 0.0
    return 1.2 * _named(key, _TEXTS) + min(1.0, length / 150) * 0.8 - _depth(key)


def _date_worth(key: _Key) -> float:
    texts = key.texts()
    if not texts or not all(_ISO.fullmatch(text) for text in texts):
        return 0.0
    return 0.6 + _named(key, _DATES) - _depth(key)


def _picture_worth(key: _Key) -> float:
    texts = key.texts()
    if not texts or not all(_ADDRESS.fullmatch(text) for text in texts):
        return 0.0
    named = max(_named(_Key((part,), ()), _PICTURES) for part in key.path)
    return named - 0.5 * _depth(key) if named else 0.0


def _worded(key: _Key) -> Pick:
    """Return the pick of a text, its markup taken out where there is some."""
    if any(_MARKUP.search(text) for text in key.texts()):
        return {"jmes": key.jmes, "do": ["html_text"]}
    return key.jmes


def _optional(pick: Pick) -> Pick:
    return (
        {**pick, "optional": True} if isinstance(pick, dict) else {"jmes": pick, "optional": True}
    )
