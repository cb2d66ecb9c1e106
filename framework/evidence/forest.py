"""A boosted forest of small trees, read from a few kilobytes of JSON and run without numpy."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Forest"]

_CLASSES = 3


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees that ask the same question at every node of a level; each leaf holds three numbers.

    `splits` holds (feature, threshold) for every level of every tree, `leaves` the three numbers of
    every leaf, `scale` what one step of them is worth.
    """

    splits: tuple[tuple[tuple[int, float], ...], ...]
    leaves: tuple[bytes, ...]
    scale: float

    @classmethod
    def read(cls, stored: Mapping[str, object]) -> Forest:
        """Read what benchmarks/train_nli.py wrote: borders by feature, splits and leaves as bytes.

        A split is two bytes, feature and number of the border; a leaf three signed bytes, shifted
        by 128. Raises ValueError where the lengths do not fit.
        """
        borders: Sequence[Sequence[float]] = stored["borders"]  # type: ignore[assignment]
        depth, scale = int(str(stored["depth"])), float(str(stored["scale"]))
        raw = base64.b85decode(str(stored["splits"]))
        values = base64.b85decode(str(stored["leaves"]))
        nodes = [
            (feature, borders[feature][border])
            for feature, border in zip(raw[::2], raw[1::2], strict=True)
        ]
        size = _CLASSES << depth
        trees = len(nodes) // depth
        if trees * depth != len(nodes) or trees * size != len(values):
            raise ValueError("the forest's splits and leaves do not fit together")
        return cls(
            tuple(tuple(nodes[n * depth : (n + 1) * depth]) for n in range(trees)),
            tuple(values[n * size : (n + 1) * size] for n in range(trees)),
            scale,
        )

    def raw(self, vector: Sequence[float]) -> tuple[float, float, float]:
        """Return the three sums of the leaves that a vector falls into, before any softmax."""
        one = two = three = 0
        for splits, leaves in zip(self.splits, self.leaves, strict=True):
            leaf = 0
            for feature, threshold in splits:
                leaf = 2 * leaf + (vector[feature] >= threshold)
            at = _CLASSES * leaf
            one += leaves[at]
            two += leaves[at + 1]
            three += leaves[at + 2]
        shift = 128 * len(self.splits)
        return (
            (one - shift) * self.scale,
            (two - shift) * self.scale,
            (three - shift) * self.scale,
        )
