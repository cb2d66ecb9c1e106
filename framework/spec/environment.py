"""What an engine needs of the operator's environment: keys, settings, and why it is disabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.model import Key, Spec

__all__ = ["disabled", "key_values", "setting_values"]


def key_values(key: Key, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return a pool's keys: comma-separated, from all of its variables in order, each once."""
    listed = (item.strip() for name in key.env for item in environ.get(name, "").split(","))
    return tuple(dict.fromkeys(item for item in listed if item))


def setting_values(spec: Spec, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that the environment or a default gives."""
    values: dict[str, str] = {}
    for name, setting in spec.settings.items():
        found = next((environ[env] for env in setting.env if environ.get(env)), setting.default)
        if found:
            values[name] = found
    return values


def disabled(spec: Spec, environ: Mapping[str, str]) -> str:
    """Say why an engine cannot be used here (`no key in NAME`), or nothing where it can."""
    for key in spec.keys.values():
        if not key.optional and not key_values(key, environ):
            return f"no key in {' or '.join(key.env)}"
    values = setting_values(spec, environ)
    for name, setting in spec.settings.items():
        if not setting.optional and name not in values:
            return f"no setting in {' or '.join(setting.env)}"
    return ""
