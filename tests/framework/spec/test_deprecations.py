"""Old keys are read under their new names, with a warning."""

from __future__ import annotations

import pytest

from framework.spec.deprecations import DEPRECATED, rename_deprecated
from framework.spec.places import Places
from framework.spec.source import load_text, plain

_TABLE = {("limits", "delay"): "timeout", ("filters",): "verdicts"}


def renamed(text: str) -> tuple[object, list[tuple[str, str, int, int, str]]]:
    root = load_text(text, "x.yaml").root
    assert root is not None
    tree, faults = rename_deprecated(root, _TABLE)
    found = Places(tree).problems(faults)
    return plain(tree), [(i.code, i.severity, i.line, i.column, i.hint) for i in found]


@pytest.mark.parametrize(
    ("text", "expected", "warnings"),
    [
        pytest.param("a: 1", {"a": 1}, [], id="nothing-old"),
        pytest.param(
            "filters: [x]\na: 1",
            {"verdicts": ["x"], "a": 1},
            [("W101", "warning", 1, 1, 'write "verdicts" instead')],
            id="top",
        ),
        pytest.param(
            "limits:\n  delay: 3s\n  rate: 1/1s",
            {"limits": {"timeout": "3s", "rate": "1/1s"}},
            [("W101", "warning", 2, 3, 'write "timeout" instead')],
            id="nested",
        ),
        pytest.param(
            "limits: {delay: 1s, timeout: 2s}",
            {"limits": {"delay": "1s", "timeout": "2s"}},
            [],
            id="both-are-left-to-the-models",
        ),
        pytest.param("limits: 5", {"limits": 5}, [], id="not-a-map"),
    ],
)
def test_renaming(
    text: str, expected: object, warnings: list[tuple[str, str, int, int, str]]
) -> None:
    assert renamed(text) == (expected, warnings)


def test_the_first_version_has_no_old_keys() -> None:
    assert dict(DEPRECATED) == {}
