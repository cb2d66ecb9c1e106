"""Which elements a page's styles make invisible: a small reader of CSS that only knows hiding."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    _Test = Callable[[str], bool]

__all__ = [
    "PLAIN",
    "Element",
    "HidingSheet",
    "Rule",
    "Style",
    "declarations",
    "laid",
    "merge",
    "read_sheets",
]

#: Rules beyond this number are not looked at: no honest page needs so many ways to hide.
MAX_RULES = 4_000
MAX_ALIKE = 64
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SIMPLE = re.compile(
    r"([.#]?)((?:[\w-]|[^\x00-\x7f]|\\.)+)|\[\s*([\w-]+)[^\]]*\]|(:[\w-]+(?:\([^)]*\))?)|(\*)"
)
_NUMBER = re.compile(r"(-?\d*\.?\d+)\s*(px|em|rem|pt|vw|vh|%|ch|ex|cm|mm|in)?", re.IGNORECASE)
_PIXELS = {
    "px": 1.0, "em": 16.0, "rem": 16.0, "pt": 1.33, "vw": 10.0, "vh": 8.0, "%": 10.0,
    "ch": 8.0, "ex": 8.0, "cm": 38.0, "mm": 3.8, "in": 96.0, "": 1.0,
}  # fmt: skip
_NAMED = {
    "white": (255, 255, 255), "black": (0, 0, 0), "snow": (255, 250, 250), "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255), "whitesmoke": (245, 245, 245), "floralwhite": (255, 250, 240),
    "red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255), "gray": (128, 128, 128),
    "grey": (128, 128, 128), "silver": (192, 192, 192), "yellow": (255, 255, 0),
}  # fmt: skip

Colour = tuple[int, int, int]


@dataclass(slots=True)
class Element:
    """What a selector can see of an element; not frozen, which would triple its cost."""

    tag: str
    identity: str
    classes: frozenset[str]
    attributes: frozenset[str]
    keys: tuple[str, ...] = field(init=False, compare=False)
    """What rules about it are found by, the weakest first: `*`, its kind, its classes, its name."""

    def __post_init__(self) -> None:
        classes = [f".{name}" for name in sorted(self.classes)]
        names = [f"#{self.identity}"] if self.identity else []
        self.keys = ("*", self.tag, *classes, *names)


@dataclass(frozen=True, slots=True)
class Style:
    """The hiding side of an element's computed style; colours None where not set."""

    reason: str = ""
    colour: Colour | None = None
    background: Colour | None = None
    shown: bool = False


#: What nothing is said of.
PLAIN = Style()


@dataclass(frozen=True, slots=True)
class _Compound:
    tag: str = ""
    identity: str = ""
    classes: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    key: str = field(init=False, compare=False)
    """What it is found by: one of the `keys` of every element that it matches."""

    def __post_init__(self) -> None:
        name = f"#{self.identity}" if self.identity else ""
        if not name and self.classes:
            name = f".{min(self.classes)}"
        object.__setattr__(self, "key", name or self.tag or "*")

    def matches(self, element: Element) -> bool:
        return (
            (not self.tag or self.tag == element.tag)
            and (not self.identity or self.identity == element.identity)
            and self.classes <= element.classes
            and self.attributes <= element.attributes
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's compounds, the keys that must all be found among the ancestors, what it says."""

    last: _Compound
    outer: tuple[_Compound, ...]
    keys: frozenset[str]
    style: Style


@dataclass(slots=True)
class HidingSheet:
    """The rules of a page's style elements that hide or colour, found by their last compound."""

    rules: dict[str, dict[tuple[_Compound, ...], Rule]] = field(default_factory=dict)

    def add(self, compounds: tuple[_Compound, ...], style: Style) -> None:
        """Take up a rule; of one last compound at most `MAX_ALIKE` different ones."""
        known = self.rules.setdefault(compounds[-1].key, {})
        if compounds in known:
            known[compounds] = replace(known[compounds], style=merge(known[compounds].style, style))
        elif len(known) < MAX_ALIKE:
            outer = compounds[:-1]
            keys = frozenset(compound.key for compound in outer)
            known[compounds] = Rule(compounds[-1], outer, keys, style)

    def matching(self, element: Element) -> tuple[Rule, ...]:
        """Return the rules whose last compound is the element, in the order they are laid."""
        known = [self.rules[key] for key in element.keys if key in self.rules]
        if not known:
            return ()
        return tuple(
            rule for rules in known for rule in rules.values() if rule.last.matches(element)
        )


def laid(rules: Sequence[Rule], ancestors: Sequence[Element]) -> Style:
    """Return what rules that match an element say of it, given what it lies in.

    A later rule wins, `shown` undoes hiding.
    """
    found = PLAIN
    above: frozenset[str] | None = None
    for rule in rules:
        if rule.outer:
            if above is None:
                above = frozenset().union(*(one.keys for one in ancestors))
            if not (rule.keys <= above and _lies_within(rule.outer, ancestors)):
                continue
        found = merge(found, rule.style)
    return found


def _lies_within(compounds: Sequence[_Compound], ancestors: Sequence[Element]) -> bool:
    """Whether ancestors match all compounds in their order."""
    rest = len(compounds) - 1
    for ancestor in reversed(ancestors):
        if compounds[rest].matches(ancestor):
            rest -= 1
            if rest < 0:
                return True
    return False


def merge(first: Style, second: Style) -> Style:
    """Return the style after `second` is laid over `first`."""
    return Style(
        reason=second.reason or ("" if second.shown else first.reason),
        colour=second.colour or first.colour,
        background=second.background or first.background,
        shown=second.shown or first.shown,
    )


def _number(value: str) -> float | None:
    found = _NUMBER.match(value.strip())
    return float(found[1]) * _PIXELS[(found[2] or "").lower()] if found else None


def _hex(text: str) -> Colour | None:
    digits = text.lstrip("#")
    if len(digits) in (3, 4):
        digits = "".join(2 * digit for digit in digits)
    if len(digits) not in (6, 8) or not re.fullmatch(r"[0-9a-fA-F]+", digits):
        return None
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


def _colour(value: str) -> Colour | None:
    for word in re.findall(r"#[0-9a-fA-F]{3,8}|rgba?\([^)]*\)|[a-z]+", value.lower()):
        if word.startswith("#"):
            return _hex(word)
        if word.startswith("rgb"):
            parts = [int(float(n)) for n in re.findall(r"\d+(?:\.\d+)?", word)[:3]]
            return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
        if word in _NAMED:
            return _NAMED[word]
    return None


def _transparent(value: str) -> bool:
    return "transparent" in value or bool(re.search(r"(?:,|/)\s*(?:0|0?\.0\d*)%?\s*\)", value))


def _below(limit: float) -> _Test:
    return lambda value: (n := _number(value)) is not None and n <= limit


def _off_screen(value: str) -> bool:
    number = _number(value)
    return number is not None and abs(number) >= 999


def _off_screen_any(value: str) -> bool:
    return any(_off_screen(part[0] + part[1]) for part in _NUMBER.findall(value))


def _clipped(value: str) -> bool:
    return bool(
        re.search(r"rect\(\s*(?:[01](?:px)?[\s,]+){3}[01](?:px)?\s*\)", value)
        or re.search(
            r"inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*(?:0(?:px)?\s+0(?:px)?[,\s]*)+\)",
            value,
        )
    )


def _faint(value: str) -> bool:
    number = _number(value.replace("%", ""))
    return number is not None and number <= (5 if "%" in value else 0.05)


def _moved_away(value: str) -> bool:
    shrunk = re.search(r"scale[xy3d]*\(\s*0(?:\.0\d*)?\s*[,)]", value)
    return bool(shrunk) or ("translate" in value and _off_screen_any(value))


#: The properties that hide, each with the reason shown and the test of its value.
_HIDING: Mapping[str, tuple[str, _Test]] = {
    "display": ("display:none", lambda v: v.startswith("none")),
    "visibility": ("visibility:hidden", lambda v: v.startswith(("hidden", "collapse"))),
    "content-visibility": ("content-visibility:hidden", lambda v: v.startswith("hidden")),
    "opacity": ("opacity", _faint),
    "font-size": ("font-size", _below(2.5)),
    "font": ("font-size", lambda v: bool(re.match(r"\s*0(?:px)?\b", v))),
    "left": ("off-screen", _off_screen),
    "right": ("off-screen", _off_screen),
    "top": ("off-screen", _off_screen),
    "bottom": ("off-screen", _off_screen),
    "margin-left": ("off-screen", _off_screen),
    "margin-top": ("off-screen", _off_screen),
    "text-indent": ("off-screen", _off_screen),
    "inset": ("off-screen", _off_screen_any),
    "transform": ("transform", _moved_away),
    "scale": ("transform", lambda v: _number(v) == 0),
    "clip": ("clip", _clipped),
    "clip-path": ("clip", _clipped),
    "z-index": ("behind the page", lambda v: (n := _number(v)) is not None and n < 0),
    "color": ("transparent text", _transparent),
    "-webkit-text-fill-color": ("transparent text", _transparent),
    "filter": ("opacity", lambda v: bool(re.search(r"opacity\(\s*0(?:\.0\d*)?%?\s*\)", v))),
}  # fmt: skip
_ZERO_SIZE = {"width", "height", "max-width", "max-height"}


_ORDER = {name: number for number, name in enumerate(_HIDING)}
_TOLD = {*_HIDING, *_ZERO_SIZE, "overflow", "background", "background-color"}


def declarations(text: str) -> Style:
    """Return the hiding side of a declaration block (`a: b; c: d`)."""
    table = {
        name: value.replace("!important", "").strip()
        for written, _, value in (part.partition(":") for part in text.lower().split(";"))
        if (name := written.strip()) in _TOLD
    }
    if not table:
        return PLAIN
    hiding = [name for name in _HIDING.keys() & table.keys() if _HIDING[name][1](table[name])]
    reasons = [_HIDING[name][0] for name in sorted(hiding, key=_ORDER.__getitem__)]
    sizes = [n for name in _ZERO_SIZE & table.keys() if (n := _number(table[name])) is not None]
    if (
        sizes
        and min(sizes) <= 1.5
        and ("hidden" in table.get("overflow", "") or (len(sizes) > 1 and max(sizes) <= 1.5))
    ):
        reasons.append("zero size")
    back = table.get("background-color") or table.get("background") or ""
    return Style(
        reason=reasons[0] if reasons else "",
        colour=_colour(table["color"]) if "color" in table else None,
        background=_colour(back) if back and not _transparent(back) else None,
        shown=not reasons
        and bool({"display", "visibility", "opacity", "font-size"} & table.keys()),
    )


def _compound(text: str) -> _Compound | None:
    tag, identity, classes, attributes = "", "", set(), set()
    for mark, name, attribute, pseudo, _ in _SIMPLE.findall(text):
        if pseudo and not pseudo.startswith((":root", ":is", ":where")):
            return None
        if mark == "#":
            identity = name.replace("\\", "")
        elif mark == ".":
            classes.add(name.replace("\\", ""))
        elif attribute:
            attributes.add(attribute.lower())
        elif name:
            tag = name.lower()
    return _Compound(tag, identity, frozenset(classes), frozenset(attributes))


_BETWEEN = re.compile(r"[\s>+~]+")


def _selector(text: str, known: dict[str, _Compound | None]) -> tuple[_Compound, ...]:
    parts = [part for part in _BETWEEN.split(text.strip()) if part]
    for part in parts:
        if part not in known:
            known[part] = _compound(part)
    compounds = [known[part] for part in parts]
    return tuple(c for c in compounds if c is not None) if None not in compounds else ()


def _outside_print(css: str) -> str:
    return re.sub(r"@media\s+print\b[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", " ", css)


def _blocks(css: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and the declarations of every block that holds no other."""
    for part in css.split("}")[:-1]:
        before, brace, block = part.rpartition("{")
        if brace:
            yield before.rpartition("{")[2], block


def read_sheets(texts: Sequence[str]) -> HidingSheet:
    """Collect the hiding and colouring rules of style elements; what is unreadable is skipped."""
    sheet = HidingSheet()
    known: dict[str, _Compound | None] = {}
    count = 0
    for text in texts:
        for selectors, block in _blocks(_outside_print(_COMMENT.sub(" ", text))):
            style = declarations(block)
            if style == PLAIN:
                continue
            for selector in selectors.rpartition(";")[2].split(","):
                compounds = _selector(selector, known)
                count += 1
                if compounds and count <= MAX_RULES:
                    sheet.add(compounds, style)
    return sheet
