"""Small local models: where their files are found, how they are loaded, run and fetched."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from framework.evidence.model_files import (
    MODELS_DIR,
    MODELS_URL,
    RECORDS,
    HubFile,
    ModelError,
    ModelRecord,
    damaged,
    describe,
    fetch,
    find,
    first_line,
    is_intact,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    from framework.evidence.model_files import Fetch, Progress

__all__ = [
    "MODELS_DIR",
    "MODELS_URL",
    "RECORDS",
    "HubFile",
    "Model",
    "ModelError",
    "ModelRecord",
    "ModelStore",
    "damaged",
    "describe",
    "fetch",
    "find",
    "is_intact",
    "load",
    "store",
]

#: Seconds after which a model that failed to load or to arrive is tried again.
RETRY_AFTER = 300.0


class Model:
    """One ONNX session with its tokenizer; thread-safe, runs on one core.

    `run` takes texts or pairs of texts and gives the first output for each, in the order of the
    input. Inputs are sorted and batched by length, so padding costs little. `labels` is the order
    of the outputs as the model's own configuration states it, empty where it states none.
    """

    def __init__(self, record: ModelRecord, folder: Path) -> None:
        self.record = record
        self.folder = folder
        self.labels = _labels(folder)
        self._tokenizer, self._session = _open(folder, record)
        self._names = {item.name for item in self._session.get_inputs()}
        self._lock = threading.Lock()
        _check_shape(self)

    def run(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], *, batch: int = 16
    ) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield index, output and attention mask of every input, in batches of like length."""
        encoded = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i].ids))
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            output, mask = self._forward([encoded[i] for i in rows])
            for row, index in enumerate(rows):
                yield index, output[row], mask[row]

    def logits(
        self, pairs: Sequence[tuple[str, str]], *, batch: int = 16
    ) -> list[tuple[float, ...]]:
        """Return the raw outputs of every pair, in order; one number each for a reranker."""
        found: list[tuple[float, ...]] = [()] * len(pairs)
        for index, output, _ in self.run(pairs, batch=batch):
            found[index] = tuple(float(value) for value in output)
        return found

    def _forward(self, encoded: Sequence[_Encoding]) -> tuple[Floats, Floats]:
        import numpy as np

        width = max((len(item.ids) for item in encoded), default=1)
        feed = {
            name: np.array([_padded(item, name, width) for item in encoded], dtype=np.int64)
            for name in self._names
        }
        mask = np.array(
            [_padded(item, "attention_mask", width) for item in encoded], dtype=np.float32
        )
        with self._lock:
            output = self._session.run(None, feed)[0]
        return output, mask


class _Encoding:  # the part of tokenizers.Encoding that is read here
    ids: list[int]
    attention_mask: list[int]
    type_ids: list[int]


_FIELDS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


def _padded(item: _Encoding, name: str, width: int) -> list[int]:
    values: list[int] = getattr(item, _FIELDS[name])
    return values + [0] * (width - len(values))


def _open(folder: Path, record: ModelRecord):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Open tokenizer and session; whatever the native code raises becomes a ModelError."""
    try:
        import onnxruntime
        import tokenizers
    except ImportError as error:
        raise ModelError(
            f"the model {record.name} needs the package {error.name}",
            hint="install consilience[evidence]",
        ) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_max_length(folder, record), strategy="longest_first")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # native code raises bare exceptions of many types
        raise ModelError(
            f"the model {record.name} in {folder} cannot be loaded: {first_line(error)}",
            hint=f"delete the folder and run `consilience models fetch {record.name}`",
        ) from error
    return tokenizer, session


def _check_shape(model: Model) -> None:
    unknown = model._names - set(_FIELDS)
    if unknown or "input_ids" not in model._names:
        raise ModelError(
            f"the model {model.record.name} has inputs this program does not feed: "
            f"{', '.join(sorted(unknown)) or 'none'}",
            hint="use an export with input_ids, attention_mask and token_type_ids",
        )
    width = next(iter(model.run([("a", "b")])))[1].shape[-1]
    if width != model.record.outputs:
        raise ModelError(
            f"the model {model.record.name} gives {width} outputs, {model.record.outputs} expected",
            hint="the folder holds another model; check its name",
        )


def _config(folder: Path) -> dict[str, object]:
    try:
        loaded = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _labels(folder: Path) -> tuple[str, ...]:
    table = _config(folder).get("id2label")
    if not isinstance(table, dict):
        return ()
    try:
        return tuple(str(table[key]).lower() for key in sorted(table, key=int))
    except ValueError:
        return ()


def _max_length(folder: Path, record: ModelRecord) -> int:
    stated = _config(folder).get("max_length")
    return stated if isinstance(stated, int) and 8 <= stated <= 4096 else record.max_length


def load(record: ModelRecord, models_dir: Path | None = None) -> Model:
    """Load a model that is on this machine; raises ModelError where it is not, or is damaged."""
    folder = find(record, models_dir)
    if folder is None:
        raise ModelError(
            f"the model {record.name} is not on this machine",
            hint=f"run `consilience models fetch {record.name}`, or set {MODELS_DIR}",
        )
    return Model(record, folder)


@dataclass(slots=True)
class ModelStore:
    """The models of one process, loaded on first use and shared; thread-safe.

    A model that cannot be had is asked for again after `RETRY_AFTER` seconds, never given up
    for good; `problems` says what went wrong last, by model name. With `get_file` (a callable
    that turns an address into bytes) a missing model is downloaded once it is first needed, and
    `progress` hears a line for each file.
    """

    models_dir: Path | None = None
    mirror: str = ""
    get_file: Fetch | None = None
    progress: Progress | None = None
    records: tuple[ModelRecord, ...] = RECORDS
    clock: Callable[[], float] = time.monotonic
    problems: dict[str, str] = field(default_factory=dict)
    _loaded: dict[str, Model] = field(default_factory=dict)
    _failed: dict[str, float] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def get(self, kind: str) -> Model | None:
        """Return the first model of a kind (rerank, embed, nli) that works here, or None."""
        with self._lock:
            for record in self.records:
                if record.kind == kind and (model := self._one(record)) is not None:
                    return model
        return None

    def _one(self, record: ModelRecord) -> Model | None:
        if record.name in self._loaded:
            return self._loaded[record.name]
        if self.clock() < self._failed.get(record.name, float("-inf")):
            return None
        try:
            model = self._obtain(record)
        except ModelError as error:
            self.problems[record.name] = str(error)
            self._failed[record.name] = self.clock() + RETRY_AFTER
            return None
        self.problems.pop(record.name, None)
        self._loaded[record.name] = model
        return model

    def _obtain(self, record: ModelRecord) -> Model:
        able = record.hub and (record.repository or self.mirror)
        if self.get_file and self.models_dir and able and not find(record, self.models_dir):
            fetch(
                record,
                self.models_dir,
                self.get_file,
                mirror=self.mirror,
                progress=self.progress,
            )
        return load(record, self.models_dir)


_STORES: dict[str, ModelStore] = {}


def store() -> ModelStore:
    """Return the process's store for the folder that CONSILIENCE_MODELS_DIR names now."""
    named = os.environ.get(MODELS_DIR, "")
    if named not in _STORES:
        mirror = os.environ.get(MODELS_URL, "")
        _STORES[named] = ModelStore(models_dir=Path(named) if named else None, mirror=mirror)
    return _STORES[named]
