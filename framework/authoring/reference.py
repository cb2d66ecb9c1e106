"""The language's reference as Markdown, made from the models and the closed tables themselves.

python -m framework.authoring.reference docs/engines.md      # renews the generated parts
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from framework.spec import ask, elements, model, template_filters
from framework.spec.fields import COMMON, EXTRAS, FIELDS
from framework.spec.filters import FILTERS
from framework.spec.model import DECLARABLE, Spec
from framework.spec.problems import CODES
from framework.spec.schema import json_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import BaseModel

    Part = Callable[[], str]

__all__ = ["PARTS", "renew"]

_MARKS = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

#: Models in the order in which the reference shows them, with the key that each stands under.
_SHOWN: tuple[tuple[str, type[BaseModel]], ...] = (
    ("the file", Spec),
    ("about", model.About),
    ("inputs", ask.Inputs),
    ("inputs.region", ask.RegionInput),
    ("inputs.query", ask.QueryInput),
    ("inputs.domains, inputs.exclude_domains", ask.DomainsInput),
    ("inputs.since", ask.SinceInput),
    ("inputs.count", ask.CountInput),
    ("keys.NAME", ask.Key),
    ("settings.NAME", ask.Setting),
    ("request", ask.Request),
    ("session[]", ask.SessionStep),
    ("paging, by: page", ask.PagePaging),
    ("paging, by: offset", ask.OffsetPaging),
    ("paging, by: link", ask.LinkPaging),
    ("paging, by: form", ask.FormPaging),
    ("paging, by: token", ask.TokenPaging),
    ("response", model.Response),
    ("response.embedded", model.Embedded),
    ("response.rows", model.Rows),
    ("a pick", elements.Pick),
    ("fetch", model.Fetch),
    ("limits", model.Limits),
    ("limits.cooldown", model.Cooldown),
    ("tests[]", model.TestCase),
)


def keys_part() -> str:
    """Write every key of the language, map by map."""
    definitions = cast("dict[str, dict[str, object]]", json_schema()["$defs"])
    return "\n".join(_model(title, kind, definitions) for title, kind in _SHOWN)


def _model(title: str, kind: type[BaseModel], known: Mapping[str, object]) -> str:
    about = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    lines = [f"### {title}", "", about, "", "| key | value | |", "| --- | --- | --- |"]
    schema = kind.model_json_schema(by_alias=True)
    properties = cast("dict[str, dict[str, object]]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    described = {info.alias or name: info for name, info in kind.model_fields.items()}
    for name, value in properties.items():
        text = (described[name].description or "").replace("\n", " ").replace("|", "\\|")
        needed = "required" if name in required else ""
        lines.append(f"| `{name}` | {_type(value)} | {' '.join(filter(None, (needed, text)))} |")
    return "\n".join([*lines, ""])


def _type(value: Mapping[str, object]) -> str:
    """Return a value's kind in a few words."""
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return " ".join(f"`{item}`" for item in cast("list[object]", value["enum"]))
    if "$ref" in value:
        return _NAMES.get(str(value["$ref"]).rpartition("/")[2], "map")
    options = value.get("anyOf") or value.get("oneOf")
    if isinstance(options, list):
        kinds = [_type(item) for item in options if item != {"type": "null"}]
        return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        items = value.get("items")
        return f"list of {_type(cast('dict[str, object]', items or {}))}"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"map of {_type(inner)}" if isinstance(inner, dict) and inner else "map"
    return _TYPES.get(str(value.get("type")), "anything")


_TYPES: Mapping[str, str] = MappingProxyType(
    {"string": "text", "integer": "number", "number": "number", "boolean": "true or false"}
)
#: What a reference to a definition is called; every other one is a map with its own table.
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "Condition": "condition",
        "Pick": "pick",
        "Selector": "selector",
        "Filter": "filter",
        "VerdictRule": "`{verdict: condition}`",
        "Kind": "a kind",
        "Status": "`experimental` `stable` `deprecated`",
        "FetchMode": "`http` `impersonate` `render`",
        "Verdict": "a verdict",
        "TimeRange": "`day` `week` `month` `year`",
        "SafeSearch": "`off` `moderate` `strict`",
    }
)


def filters_part() -> str:
    """Write the table of filters."""
    rows = (
        f"| `{kind.name}` | {_cell(kind.argument)} | {_cell(kind.summary)} "
        f"| `{_cell(kind.example)}` |"
        for kind in FILTERS.values()
    )
    return _table("| filter | argument | effect | example |", rows)


def conditions_part() -> str:
    """Write the table of conditions."""
    properties = elements.Condition.model_fields
    rows = (
        f"| `{name}` | {_cell(_CONDITIONS[name])} |"
        for name in elements.CONDITIONS
        if name in properties or f"{name}_" in properties
    )
    return _table("| condition | true where |", rows)


_CONDITIONS: Mapping[str, str] = MappingProxyType(
    {
        "status": "the status is this number, or one of these",
        "url": "RE2 is found in the final address or in one on the way to it",
        "header": "every header named has a value in which its RE2 is found",
        "css": "the selector finds something in the page",
        "xpath": "the expression finds something, or is true",
        "jmes": "the expression's value is neither empty nor false",
        "text": "RE2 is found in the decoded body",
        "size_below": "the body has fewer bytes",
        "any": "one of these conditions holds",
        "all": "all of these conditions hold",
        "not": "this condition does not hold",
    }
)


def fields_part() -> str:
    """Write the table of row fields by kind."""
    common = ", ".join(f"`{name}` ({kind.value})" for name, kind in COMMON.items())
    extras = ", ".join(f"`{name}` ({kind.value})" for name, kind in EXTRAS.items())
    rows = [f"| every kind | {common} |"]
    for kind, names in FIELDS.items():
        if names:
            told = ", ".join(f"`{name}` ({it.value})" for name, it in names.items())
            rows.append(f"| `{kind.value}` | {told} |")
    rows.append(f"| `extras`, of the whole page | {extras} |")
    return _table("| kind | fields |", rows)


def verdicts_part() -> str:
    """Write the verdicts that a file may declare."""
    return ", ".join(f"`{verdict.value}`" for verdict in DECLARABLE) + "\n"


def templates_part() -> str:
    """Write the table of template filters."""
    rows = (f"| `{name}` | {_cell(_about(name))} |" for name in template_filters.FILTERS)
    return _table("| filter | effect |", rows)


def _about(name: str) -> str:
    text = inspect.getdoc(getattr(template_filters, name)) or ""
    return text.partition("\n\n")[0].replace("\n", " ")


def codes_part() -> str:
    """Write the table of problem codes."""
    rows = (f"| `{code}` | {_cell(text)} |" for code, text in CODES.items())
    return _table("| code | |", rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(head: str, rows: Iterator[str] | list[str]) -> str:
    rule = "| " + " | ".join("---" for _ in range(head.count("|") - 1)) + " |"
    return "\n".join([head, rule, *rows, ""])


#: The generated parts by the name that stands in the page.
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "codes": codes_part,
        "conditions": conditions_part,
        "fields": fields_part,
        "filters": filters_part,
        "keys": keys_part,
        "templates": templates_part,
        "verdicts": verdicts_part,
    }
)


def renew(text: str) -> str:
    """Return a page with every generated part made anew; raises KeyError for an unknown one."""
    return _MARKS.sub(lambda m: f"{m[1]}\n{PARTS[m['name']]()}\n{m[3]}", text)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        page = Path(argument)
        page.write_text(renew(page.read_text(encoding="utf-8")), encoding="utf-8")
