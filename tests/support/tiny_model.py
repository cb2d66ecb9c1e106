"""A three-way classifier of a few hundred bytes, written as ONNX by hand, with its tokenizer.

Every word of the vocabulary has three numbers; a pair's outputs are their mean. That is enough to
run the real loading code: sessions, labels, truncation, batches, damage.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["write_model"]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _port(name: str, kind: int, dimensions: Sequence[str | int]) -> bytes:
    shape = b"".join(
        _bytes(1, _text(2, d) if isinstance(d, str) else _number(1, d)) for d in dimensions
    )
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _node(kind: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    return (
        b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind) + attributes
    )


def _model(rows: Sequence[Sequence[float]], inputs: Sequence[str]) -> bytes:
    flat = [value for row in rows for value in row]
    weights = (
        _number(1, len(rows))
        + _number(1, len(rows[0]))
        + _number(2, 1)
        + _text(8, "weights")
        + _bytes(9, struct.pack(f"<{len(flat)}f", *flat))
    )
    axes = _bytes(5, _text(1, "axes") + _number(8, 1) + _number(20, 7))
    flat_ = _bytes(5, _text(1, "keepdims") + _number(3, 0) + _number(20, 2))
    graph = (
        _bytes(1, _node("Gather", ["weights", "input_ids"], "seen"))
        + _bytes(1, _node("ReduceMean", ["seen"], "logits", axes + flat_))
        + _text(2, "tiny")
        + _bytes(5, weights)
        + b"".join(_bytes(11, _port(name, 7, ["batch", "tokens"])) for name in inputs)
        + _bytes(12, _port("logits", 1, ["batch", len(rows[0])]))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))


def write_model(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    labels: Sequence[str] = ("contradiction", "entailment", "neutral"),
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
) -> Path:
    """Write model.onnx, tokenizer.json and config.json; `words` gives each word its outputs."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    width = len(next(iter(words.values())))
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    rows = [[0.0] * width] * 4 + [list(row) for row in words.values()]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(_model(rows, inputs))
    config = {"id2label": {str(i): label for i, label in enumerate(labels)}, "max_length": 16}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder
