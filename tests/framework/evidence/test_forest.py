"""A stored forest: what it adds up, and what it refuses."""

from __future__ import annotations

import base64

import pytest

from framework.evidence.forest import Forest


def _stored(splits: bytes, leaves: bytes, depth: int = 1) -> dict[str, object]:
    return {
        "depth": depth,
        "scale": 0.5,
        "borders": [[0.5], [1.0, 2.0]],
        "splits": base64.b85encode(splits).decode(),
        "leaves": base64.b85encode(leaves).decode(),
    }


#: Two trees: the first asks feature 0, the second feature 1 at its second border.
TWO = _stored(
    bytes([0, 0, 1, 1]),
    bytes([130, 128, 126, 126, 128, 130, 128, 138, 128, 128, 118, 128]),
)


@pytest.mark.parametrize(
    ("vector", "sums"),
    [
        pytest.param((0.0, 0.0), (1.0, 5.0, -1.0), id="below both"),
        pytest.param((0.5, 0.0), (-1.0, 5.0, 1.0), id="on the first border"),
        pytest.param((0.0, 1.9), (1.0, 5.0, -1.0), id="between the second's borders"),
        pytest.param((1.0, 2.0), (-1.0, -5.0, 1.0), id="above both"),
    ],
)
def test_leaves_add_up(vector: tuple[float, float], sums: tuple[float, float, float]) -> None:
    assert Forest.read(TWO).raw(vector) == sums


def test_levels_of_a_tree_are_asked_in_order() -> None:
    leaves = bytes(128 + n for n in range(12))
    forest = Forest.read(_stored(bytes([0, 0, 1, 0]), leaves, depth=2))
    assert forest.raw((0.0, 0.0)) == (0.0, 0.5, 1.0)
    assert forest.raw((0.0, 1.0)) == (1.5, 2.0, 2.5)
    assert forest.raw((1.0, 0.0)) == (3.0, 3.5, 4.0)
    assert forest.raw((1.0, 1.0)) == (4.5, 5.0, 5.5)


def test_a_forest_cut_short_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        Forest.read(_stored(bytes([0, 0, 1, 1]), bytes(6)))
