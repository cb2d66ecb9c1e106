"""The version of what is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["VERSION"]

try:
    VERSION = version("consilience")
except PackageNotFoundError:
    VERSION = "0+unknown"
