"""Entailment: probabilities, label order, methods, bars; the recorded pairs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.evidence import nli
from framework.evidence.models import ModelRecord, ModelStore
from framework.evidence.verify import entailment
from tests.support.tiny_model import write_model

if TYPE_CHECKING:
    from pathlib import Path

NONE = ModelStore(records=())


def _one(premise: str, claim: str, store: ModelStore = NONE) -> nli.Judgement:
    return nli.judge([(premise, claim)], store)[0]


def test_entailment_gives_three_probabilities() -> None:
    found = entailment("The lamp is on the shelf in the hall.", "The lamp is on the shelf.")
    assert sum(found) == pytest.approx(1.0)
    assert found[0] > max(found[1:])


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_judged(premise: str, claim: str) -> None:
    found = _one(premise, claim)
    assert found.entailment + found.neutral + found.contradiction == pytest.approx(1.0)
    assert found.verdict in ("supported", "refuted", "unclear")


def test_nothing_to_judge() -> None:
    assert nli.judge([], NONE) == []


def test_the_same_sentence_is_supported() -> None:
    text = "The tunnel under the river was opened for trains in 1994."
    assert _one(text, text).verdict == "supported"


@pytest.mark.parametrize(
    ("claim", "sign"),
    [
        pytest.param("The tunnel was opened for trains in 1987.", "date", id="date"),
        pytest.param("The tunnel was not opened for trains in 1994.", "polarity", id="polarity"),
        pytest.param("The tunnel was closed for trains in 1994.", "opposite", id="opposite"),
        pytest.param("The tunnel was opened for buses in 1994.", "kind", id="kind"),
    ],
)
def test_signs_against_a_claim_are_named(claim: str, sign: str) -> None:
    text = "The tunnel was opened for a train in 1994." if sign == "kind" else ""
    found = _one(
        text or "The tunnel was opened for trains in 1994.", claim.replace("buses", "a bus")
    )
    assert sign in found.signs
    assert found.verdict != "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        pytest.param(
            "The bridge in Osaka was built of stone.",
            "The bridge in Spain was built of stone.",
            id="place",
        ),
        pytest.param("The ferry sank in May 1950.", "The ferry sank in May 1972.", id="date"),
    ],
)
def test_a_strong_sign_with_all_else_the_same_refutes(text: str, claim: str) -> None:
    found = _one(text, claim)
    assert found.verdict == "refuted"
    assert _one(text, text).verdict == "supported"


@pytest.mark.parametrize("signs", [("name",), ("negation",), ("date",)])
def test_nothing_is_supported_against_a_sign(signs: tuple[str, ...]) -> None:
    assert nli.Judgement(0.99, 0.005, 0.005, "lexical").verdict == "supported"
    assert nli.Judgement(0.99, 0.005, 0.005, "lexical", signs).verdict == "unclear"


def test_nothing_is_refuted_without_a_sign_or_a_second_opinion() -> None:
    assert nli.Judgement(0.005, 0.005, 0.99, "lexical").verdict == "unclear"
    assert nli.Judgement(0.005, 0.005, 0.99, "lexical", ("name",)).verdict == "refuted"
    assert nli.Judgement(0.005, 0.005, 0.99, "lexical+nli", seconded=True).verdict == "refuted"


def _model(folder: Path, labels: tuple[str, ...]) -> ModelStore:
    words = {"sun": (9.0, 0.0, 0.0), "snow": (0.0, 9.0, 0.0), "fog": (0.0, 0.0, 9.0)}
    write_model(folder / "tiny", words, labels)
    record = ModelRecord(name="tiny", kind="nli", outputs=3, licence="CC0-1.0")
    return ModelStore(models_dir=folder, records=(record,))


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(("entailment", "neutral", "contradiction"), id="first"),
        pytest.param(("contradiction", "entailment", "neutral"), id="second"),
        pytest.param(("neutral", "contradiction", "entailment"), id="third"),
    ],
)
def test_label_order_is_read_not_guessed(tmp_path: Path, labels: tuple[str, ...]) -> None:
    store = _model(tmp_path, labels)
    word = ("sun", "snow", "fog")[labels.index("entailment")]
    found = _one(word, word, store)
    assert found.method == "model"
    assert found.entailment > 0.9


def test_model_without_labels_is_left_out_and_named(tmp_path: Path) -> None:
    store = _model(tmp_path, ("LABEL_0", "LABEL_1", "LABEL_2"))
    found = _one("sun", "sun", store)
    assert found.method == "lexical"
    assert "id2label" in store.problems["nli"]


def test_damaged_model_leaves_the_shipped_classifier(tmp_path: Path) -> None:
    store = _model(tmp_path, nli.LABELS)
    (tmp_path / "tiny/model.onnx").write_bytes(b"no model")
    assert _one("sun", "sun", store).method == "lexical"
    assert "cannot be loaded" in store.problems["tiny"]


def test_packaged_models_join_in(packaged: ModelStore) -> None:
    found = _one("A violinist plays outside.", "Music is made in the open air.", packaged)
    assert found.method == "lexical+packaged"


def _rows(shared: Path) -> list[dict[str, str]]:
    lines = (shared / "evals/nli.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _measured(shared: Path, store: ModelStore) -> tuple[float, dict[str, tuple[int, int]]]:
    rows = _rows(shared)
    found = nli.judge([(r["premise"], r["hypothesis"]) for r in rows], store)
    right = 0
    table: dict[str, tuple[int, int]] = {"supported": (0, 0), "refuted": (0, 0)}
    for row, judged in zip(rows, found, strict=True):
        three = (judged.entailment, judged.neutral, judged.contradiction)
        right += nli.LABELS[three.index(max(three))] == row["label"]
        if judged.verdict in table:
            said, true = table[judged.verdict]
            label = "entailment" if judged.verdict == "supported" else "contradiction"
            table[judged.verdict] = said + 1, true + (row["label"] == label)
    return right / len(rows), table


@pytest.mark.untraced
def test_recorded_pairs_without_models(shared: Path) -> None:
    accuracy, table = _measured(shared, NONE)
    assert accuracy >= 0.59
    assert all(said > 20 and true >= 0.8 * said for said, true in table.values())


@pytest.mark.untraced
@pytest.mark.slow
def test_recorded_pairs_with_packaged_models(shared: Path, packaged: ModelStore) -> None:
    accuracy, table = _measured(shared, packaged)
    assert accuracy >= 0.64
    assert all(true >= 0.8 * said for said, true in table.values())


@pytest.mark.untraced
@pytest.mark.slow
def test_recorded_pairs_with_all_models(shared: Path, small: ModelStore) -> None:
    assert small.get("nli") is not None, small.problems
    accuracy, table = _measured(shared, small)
    assert accuracy >= 0.65
    assert all(said > 30 and true >= 0.8 * said for said, true in table.values())
