"""Models: found, loaded, fetched, damaged, asked for again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from framework.evidence import models
from framework.evidence.models import (
    RECORDS,
    HubFile,
    ModelError,
    ModelRecord,
    ModelStore,
    damaged,
    describe,
    fetch,
    find,
    is_intact,
    load,
)
from tests.support.tiny_model import write_model

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime")

RECORD = ModelRecord(name="tiny", kind="nli", outputs=3, licence="CC0-1.0")
WORDS = {"yes": (0.0, 9.0, 0.0), "no": (9.0, 0.0, 0.0), "rain": (0.0, 0.0, 9.0)}


def _tiny(folder: Path) -> Path:
    return write_model(folder / "tiny", WORDS).parent


def test_outputs_keep_the_order_of_the_input(tmp_path: Path) -> None:
    model = load(RECORD, _tiny(tmp_path))
    pairs = [("yes", "yes"), ("no no no no no", "no"), ("rain", "rain rain"), ("yes", "no")] * 5
    found = model.logits(pairs, batch=3)
    assert len(found) == len(pairs)
    best = [row.index(max(row)) for row in found]
    assert best[:3] == [1, 0, 2]
    assert best == best[:4] * 5


def test_labels_come_from_the_configuration(tmp_path: Path) -> None:
    assert load(RECORD, _tiny(tmp_path)).labels == ("contradiction", "entailment", "neutral")


def test_long_input_is_cut(tmp_path: Path) -> None:
    model = load(RECORD, _tiny(tmp_path))
    indexes = [(index, mask.sum()) for index, _, mask in model.run([("yes " * 500, "no " * 500)])]
    assert indexes == [(0, 16)]


def test_models_without_token_types_are_fed_what_they_take(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny", WORDS, inputs=("input_ids", "attention_mask"))
    assert load(RECORD, tmp_path).logits([("yes", "yes")])


def test_unknown_inputs_are_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny", WORDS, inputs=("input_ids", "pixels"))
    with pytest.raises(ModelError, match="pixels"):
        load(RECORD, tmp_path)


def test_wrong_number_of_outputs_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny", {"yes": (1.0,)})
    with pytest.raises(ModelError, match="1 outputs, 3 expected"):
        load(RECORD, tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damage_is_named_with_its_remedy(tmp_path: Path, name: str) -> None:
    folder = _tiny(tmp_path)
    (folder / "tiny" / name).write_bytes(b"\x00broken" * 40)
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        load(RECORD, folder)
    assert "delete the folder" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_absence_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not on this machine") as caught:
        load(RECORD, tmp_path)
    assert "consilience models fetch tiny" in str(caught.value)


def test_found_below_the_folder_and_as_the_folder(tmp_path: Path) -> None:
    folder = _tiny(tmp_path)
    assert find(RECORD, folder) == find(RECORD, folder / "tiny") == folder / "tiny"


def test_damaged_configuration_gives_no_labels(tmp_path: Path) -> None:
    folder = _tiny(tmp_path)
    (folder / "tiny" / "config.json").write_text("{", "utf-8")
    assert load(RECORD, folder).labels == ()


class _Hub:
    """What a hub holds, and what was asked of it."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.asked: list[str] = []

    def get(self, url: str) -> bytes:
        self.asked.append(url)
        name = url.rsplit("/", 1)[-1]
        if name not in self.files:
            raise OSError("connection refused")
        return self.files[name]


def _hub(tmp_path: Path) -> tuple[_Hub, ModelRecord]:
    folder = write_model(tmp_path / "origin", WORDS)
    names = ("model.onnx", "tokenizer.json", "config.json")
    files = {name: (folder / name).read_bytes() for name in names}
    hub = tuple(
        HubFile(path=f"onnx/{n}", name=n, sha256=hashlib.sha256(files[n]).hexdigest())
        for n in names
    )
    return _Hub(files), replace(RECORD, repository="owner/tiny", hub=hub)


def test_fetch_brings_a_working_model(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    lines: list[str] = []
    folder = fetch(record, tmp_path / "models", hub.get, progress=lines.append)
    assert load(record, tmp_path / "models").folder == folder
    assert is_intact(record, folder)
    assert [line.split(":")[0] for line in lines] == ["tiny"] * 3
    assert all("owner/tiny/resolve/main/onnx/" in url for url in hub.asked)


def test_fetch_from_a_mirror(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    fetch(replace(record, repository=""), tmp_path, hub.get, mirror="https://m.example/x/")
    assert hub.asked[0] == "https://m.example/x/tiny/model.onnx"


def test_fetch_refuses_a_file_that_is_not_the_expected_one(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    hub.files["model.onnx"] = hub.files["model.onnx"][:-9]
    with pytest.raises(ModelError, match="sha256"):
        fetch(record, tmp_path / "models", hub.get)
    assert not (tmp_path / "models/tiny/model.onnx").exists()


def test_fetch_without_a_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be downloaded"):
        fetch(RECORD, tmp_path, _Hub({}).get)


def test_unpinned_file_is_held_to_what_first_came(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    loose = replace(record, hub=tuple(replace(f, sha256=None) for f in record.hub))
    folder = fetch(loose, tmp_path / "models", hub.get)
    assert is_intact(loose, folder)
    (folder / "model.onnx").write_bytes(b"other")
    assert not is_intact(loose, folder)


def test_a_file_that_changed_at_its_source_is_refused(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    loose = replace(record, hub=tuple(replace(f, sha256=None) for f in record.hub))
    folder = fetch(loose, tmp_path / "models", hub.get)
    (folder / "model.onnx").unlink()
    hub.files["model.onnx"] += b"more"
    with pytest.raises(ModelError, match="first came") as raised:
        fetch(loose, tmp_path / "models", hub.get)
    assert not raised.value.retryable
    assert str(folder) in str(raised.value.hint)
    assert damaged(loose, folder) == ("model.onnx",)


def test_what_is_there_as_expected_is_not_fetched_again(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    folder = fetch(record, tmp_path / "models", hub.get)
    (folder / "config.json").write_bytes(b"damaged")
    hub.asked.clear()
    fetch(record, tmp_path / "models", hub.get)
    assert [url.rsplit("/", 1)[-1] for url in hub.asked] == ["config.json"]
    assert is_intact(record, folder)


def test_a_broken_list_of_digests_is_no_list(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    loose = replace(record, hub=tuple(replace(f, sha256=None) for f in record.hub))
    folder = fetch(loose, tmp_path / "models", hub.get)
    (folder / "sha256.json").write_text("[1, 2")
    assert is_intact(loose, folder)
    fetch(loose, tmp_path / "models", hub.get)
    (folder / "config.json").write_bytes(b"other")
    assert damaged(loose, folder) == ("config.json",)


def test_packaged_files_are_compared_with_those_that_were_measured(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "site/tiny", WORDS)
    good = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    record = replace(RECORD, folder="site/tiny", shipped=(("model.onnx", good),))
    assert damaged(record, folder) == ()
    (folder / "model.onnx").write_bytes(b"other")
    assert damaged(record, folder) == ("model.onnx",)


def test_store_tries_a_failed_download_again_later(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    kept = hub.files.pop("tokenizer.json")
    now = [0.0]
    store = ModelStore(tmp_path / "m", get_file=hub.get, records=(record,), clock=lambda: now[0])
    assert store.get("nli") is None
    assert "did not arrive" in store.problems["tiny"]
    hub.files["tokenizer.json"] = kept
    asked = len(hub.asked)
    assert store.get("nli") is None
    assert len(hub.asked) == asked
    now[0] += models.RETRY_AFTER + 1
    assert store.get("nli") is not None
    assert store.problems == {}
    assert store.get("nli") is store.get("nli")


def test_store_says_what_it_downloads(tmp_path: Path) -> None:
    hub, record = _hub(tmp_path)
    lines: list[str] = []
    store = ModelStore(tmp_path / "m", get_file=hub.get, progress=lines.append, records=(record,))
    assert store.get("nli") is not None
    assert [line.split(" from ")[0] for line in lines] == [f"tiny: {f.name}" for f in record.hub]
    assert store.get("nli") is not None
    assert len(lines) == len(record.hub)


def test_store_without_models_gives_none(no_models: ModelStore) -> None:
    assert no_models.get("rerank") is None


def test_store_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(models.MODELS_DIR, str(tmp_path))
    assert models.store().models_dir == tmp_path
    assert models.store() is models.store()


def test_description_names_every_model() -> None:
    assert [row["name"] for row in describe()] == [record.name for record in RECORDS]
