"""Settings of one command: the environment below its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.config import Environment, Settings, load

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["settings_of"]


def settings_of(overrides: Mapping[str, object]) -> Settings:
    """Read the environment and lay the command's options (those not None) over it."""
    return load(Environment.read(), **overrides)
