"""Migration: old files in the new version's words, comments and layout as they were."""

from __future__ import annotations

import pytest

from framework.authoring.migrate import CURRENT, MIGRATIONS, Migration, migrate
from framework.spec.catalogue import Catalogue

OLD = """\
schema: 1   # version
id: x
limit: {rate: 1/2s}   # how hard
fetch:
  mode: browser       # a real one
session:
  - {id: a, lifetime: 1h}
  - id: b
    lifetime: 2h      # longer
"""
STEP = Migration(
    since=1,
    renamed={("limit",): "limits", ("session", "*", "lifetime"): "ttl"},
    values={("fetch", "mode"): {"browser": "render"}},
)


def test_a_file_of_the_version_before_is_brought_up() -> None:
    new = migrate(OLD, {1: STEP}, current=2)

    assert new == (
        OLD.replace("schema: 1", "schema: 2")
        .replace("limit:", "limits:")
        .replace("lifetime:", "ttl:")
        .replace("mode: browser", "mode: render")
    )


def test_several_versions_are_passed_one_by_one() -> None:
    second = Migration(since=2, renamed={("limits",): "bounds"})

    assert "bounds: {rate: 1/2s}   # how hard" in migrate(OLD, {1: STEP, 2: second}, current=3)


def test_deprecated_keys_get_their_new_names() -> None:
    assert "limits: {rate" in migrate(OLD, {}, 1, {("limit",): "limits"})


@pytest.mark.parametrize("text", ["", "[1]", "no: schema\n", "<html>", "schema: 9\nid: x\n"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert migrate(text, {1: STEP}, current=2) == text


def test_packaged_files_are_current() -> None:
    texts = [entry.path.read_text() for entry in Catalogue().entries()]

    assert [text for text in texts if migrate(text) != text] == []
    assert all(version < CURRENT for version in MIGRATIONS)
