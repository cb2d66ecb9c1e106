"""What the operator gives an engine through the environment: keys, and plain settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from framework.spec.context import Variables
from framework.spec.environment import key_values, setting_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.compiler import Engine

__all__ = ["operator_values"]


def operator_values(engine: Engine, environ: Mapping[str, str] | None = None) -> Variables:
    """Return an engine's settings and the first key of each of its pools; unset ones are left out.

    Servers and crawls rotate keys and pass them in themselves; this is for a single call.
    """
    env = os.environ if environ is None else environ
    pools = {name: key_values(key, env) for name, key in engine.keys.items()}
    return Variables(
        keys={name: keys[0] for name, keys in pools.items() if keys},
        settings=setting_values(engine.spec, env),
    )
