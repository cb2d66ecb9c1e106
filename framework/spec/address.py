"""Which addresses a file may name: https, a literal public host, or one that the operator gave."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from framework.spec.model import Setting

__all__ = ["address_fault", "host_fault", "host_of", "is_operator_address", "same_site"]

#: A setting that stands at the very start of an address is the operator's own address.
_OPERATOR = re.compile(r"\{\{-?\s*settings\.(\w+)\s*-?\}\}(?=[/?]|$)")
_LITERAL = re.compile(r"https://([^/?#]*)")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?")
_LOCAL = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home", ".corp", ".arpa")
_RULE = "url must be https with a literal host"


def host_of(url: str) -> str:
    """Return an address's host in lower case, or nothing where it has none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def host_fault(host: str) -> str:
    """Say what is wrong with a host for a spec: an IP address, a local or a malformed name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        pass
    else:
        return "the host must be a public name, not an IP address"
    if not _HOST.fullmatch(host.lower()):
        return "the host must be a public name"
    return "the host must not be a local name" if host.lower().endswith(_LOCAL) else ""


def is_operator_address(url: str) -> bool:
    """Tell whether an address starts with a setting, so that the operator decides the host."""
    return bool(_OPERATOR.match(url))


def address_fault(url: str, settings: Mapping[str, Setting] | None) -> str:
    """Say what is wrong with a templated address, or nothing.

    The host is literal and public and the scheme https; or, where there are settings, the address
    starts with one of them, whose own default, if any, follows the same rule.
    """
    operator = _OPERATOR.match(url)
    if operator and settings is not None:
        setting = settings.get(operator[1])
        fallback = setting.default if setting else None
        fault = address_fault(fallback, None) if fallback else ""
        return f"default of settings.{operator[1]}: {fault}" if fault else ""
    literal = _LITERAL.match(url)
    if literal is None or "{" in literal[1]:
        return _RULE
    host, _, port = literal[1].partition(":")
    if "@" in literal[1] or not (port.isdigit() or not port):
        return _RULE
    return host_fault(host)


def same_site(url: str, origin: str, hosts: Collection[str] = ()) -> bool:
    """Tell whether a followed address stays on the origin's host or on one of the given hosts.

    The scheme may not fall from https to http, and there are no user names.
    """
    try:
        target, source = urlsplit(url), urlsplit(origin)
        port = target.port
    except ValueError:
        return False
    if target.scheme not in ("http", "https") or target.username is not None:
        return False
    if source.scheme == "https" and target.scheme != "https":
        return False
    host = (target.hostname or "").lower()
    if host == (source.hostname or "").lower():
        return port == source.port
    return bool(host) and host in hosts and port is None
