"""The syntax trees of templates: what may stand in them, and the two places that are changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import nodes

from framework.errors import ConsilienceError
from framework.spec import template_filters
from framework.spec.problems import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ADDRESS",
    "GIVEN",
    "TemplateError",
    "check_tree",
    "needed",
    "open_address",
    "paths",
    "settle",
]

#: Filters of the sandbox that no file can name: text that an address takes as it is, and a name
#: that is false where it is unset.
ADDRESS = "__address__"
GIVEN = "__given__"

_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Getattr,
    nodes.Const,
    nodes.Compare,
    nodes.Operand,
    nodes.Add,
    nodes.Sub,
    nodes.Neg,
    nodes.Pos,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.CondExpr,
    nodes.Filter,
    nodes.Keyword,
)
_WORDS = {
    "Call": "a call",
    "For": "a loop",
    "Concat": 'the operator "~"',
    "Mul": 'the operator "*"',
    "Div": 'the operator "/"',
    "FloorDiv": 'the operator "//"',
    "Mod": 'the operator "%"',
    "Pow": 'the operator "**"',
    "Getitem": "a subscript",
    "List": "a list",
    "Tuple": "a tuple",
    "Dict": "a map",
    "Assign": "an assignment",
    "Macro": "a macro",
    "Include": "an include",
    "Import": "an import",
    "FromImport": "an import",
    "Extends": "an extends block",
    "Block": "a block",
    "If": 'a block "if"',
    "Test": 'a test with "is"',
}
#: Names with parts, and how many: `keys.brave`, `session.token.key`.
_PARTS = {"keys": (1, 1), "settings": (1, 1), "session": (1, 2), "row": (1, 1)}
_MAX_NODES = 256
_UNSET = "__unset__"


class TemplateError(ConsilienceError):
    """A template is not allowed or cannot be rendered; `word` is the part that is wrong."""

    code = "template"

    def __init__(self, message: str, hint: str, word: str = "", kind: str = "E203") -> None:
        super().__init__(message, hint=hint)
        self.word = word
        self.kind = kind


def check_tree(tree: nodes.Node) -> None:
    """Refuse everything that the language does not list; raises TemplateError."""
    for count, node in enumerate(_walk(tree)):
        if count > _MAX_NODES:
            raise TemplateError(f"template has more than {_MAX_NODES} parts", "write a shorter one")
        kind = type(node).__name__
        if not isinstance(node, _ALLOWED):
            what = _WORDS.get(kind, f"{kind.lower()!r}")
            raise TemplateError(f"{what} is not allowed in a template", _GRAMMAR)
        if isinstance(node, nodes.Filter):
            _check_filter(node)
        if isinstance(node, nodes.Compare) and any(op.op in ("in", "notin") for op in node.ops):
            raise TemplateError('the operator "in" is not allowed in a template', _GRAMMAR)
        if isinstance(node, nodes.Getattr) and not _path(node):
            raise TemplateError(f'".{node.attr}" is not allowed here', _GRAMMAR, node.attr)


_GRAMMAR = (
    "allowed: names, constants, comparisons, +, -, and, or, not, "
    f"a if b else c, and the filters {', '.join(sorted(template_filters.FILTERS))}"
)


def _check_filter(node: nodes.Filter) -> None:
    if node.name not in template_filters.FILTERS:
        raise TemplateError(
            f'unknown filter "{node.name}"',
            suggest(node.name, sorted(template_filters.FILTERS)),
            node.name,
        )
    if node.kwargs or node.dyn_args or node.dyn_kwargs:
        hint = f"write {node.name}(a), without names or stars"
        raise TemplateError(
            f'filter "{node.name}" takes its arguments by position', hint, node.name
        )
    least, most = template_filters.ARITY[node.name]
    if not least <= len(node.args) <= most:
        counts = str(least) if least == most else f"{least} to {most}"
        hint = f"write {node.name}('…')" if most else "write it without brackets"
        raise TemplateError(f'filter "{node.name}" takes {counts} arguments', hint, node.name)


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.iter_child_nodes())


def _path(node: nodes.Node) -> str:
    """Return the dotted path of a name or of an attribute of a name with parts, else nothing."""
    parts: list[str] = []
    while isinstance(node, nodes.Getattr):
        parts.append(node.attr)
        node = node.node
    if not isinstance(node, nodes.Name):
        return ""
    least, most = _PARTS.get(node.name, (0, 0))
    right = least <= len(parts) <= most
    return ".".join([node.name, *reversed(parts)]) if right else ""


def paths(tree: nodes.Node) -> Iterator[str]:
    """Yield the dotted path of every name that a checked tree touches; raises TemplateError."""
    if isinstance(tree, nodes.Name | nodes.Getattr):
        path = _path(tree)
        root = path.partition(".")[0]
        if not path:
            name = tree.name if isinstance(tree, nodes.Name) else tree.attr
            raise TemplateError(f'"{name}" needs a name after it', f"write {name}.NAME", name)
        if root != _UNSET:
            yield path
        return
    for child in tree.iter_child_nodes():
        yield from paths(child)


def needed(tree: nodes.Template) -> tuple[str, ...]:
    """Return the names without which a tree yields nothing, as far as that is plain to see."""
    for node in _walk(tree):
        forgiving = isinstance(node, nodes.Filter) and node.name == "default"
        if forgiving or isinstance(node, nodes.CondExpr | nodes.And | nodes.Or):
            return ()
    return tuple(sorted({path for path in paths(tree) if "." not in path}))


def settle(tree: nodes.Node) -> None:
    """Make an unset name false as the test of an `if`, and give every `if` without else an unset
    one: Jinja2's own is an empty text even when strict.
    """
    for node in list(tree.find_all(nodes.CondExpr)):
        node.test = _softened(node.test)
        if node.expr2 is None:
            node.expr2 = nodes.Name(_UNSET, "load", lineno=node.lineno)


def _softened(test: nodes.Expr) -> nodes.Expr:
    if isinstance(test, nodes.Name | nodes.Getattr):
        return _filtered(test, GIVEN)
    if isinstance(test, nodes.And | nodes.Or):
        test.left, test.right = _softened(test.left), _softened(test.right)
    if isinstance(test, nodes.Not):
        test.node = _softened(test.node)
    return test


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def open_address(tree: nodes.Template) -> None:
    """Let a setting that stands at the very start of an address through as it is."""
    output = tree.body[0]
    if not isinstance(output, nodes.Output) or not output.nodes:
        return
    first = output.nodes[0]
    if _path(first).startswith("settings."):
        output.nodes[0] = _filtered(first, ADDRESS)
