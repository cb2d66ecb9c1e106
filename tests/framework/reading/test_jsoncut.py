"""Cut JSON is JSON, small enough, and a part of what it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from framework.reading.jsoncut import cut, size

if TYPE_CHECKING:
    from framework.reading.document import Json

ATOMS = st.none() | st.booleans() | st.integers() | st.text(max_size=60)
VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6)
    ),
    max_leaves=40,
)


@given(VALUES, st.integers(min_value=30, max_value=400))
def test_it_fits_and_is_valid(value: Json, most: int) -> None:
    kept, truncated = cut(value, most)

    assert json.loads(json.dumps(kept)) == kept
    assert truncated is (kept != value) or size(value) > most
    if isinstance(value, (str, list, dict)):
        assert size(kept) <= most


@given(VALUES)
def test_what_fits_is_untouched(value: Json) -> None:
    assert cut(value, size(value)) == (value, False)


@given(st.lists(st.integers(), max_size=50), st.integers(min_value=2, max_value=100))
def test_a_list_keeps_its_first_elements(value: list[Json], most: int) -> None:
    kept, _ = cut(value, most)

    assert isinstance(kept, list)
    assert kept == value[: len(kept)]
