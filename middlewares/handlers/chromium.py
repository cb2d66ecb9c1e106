"""How Chromium is found and started: quiet, without a way out of its own."""

from __future__ import annotations

import base64
import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

__all__ = ["executable", "launch_options", "trusted_keys", "user_agent"]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Names are the proxy's business; WebRTC must not find another way.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
#: The browser's own traffic (updates, accounts) goes to a port where nobody listens.
_NOWHERE = {"server": "socks5://127.0.0.1:9"}


def executable(settings: BaseSettings) -> str | None:
    """Return Chromium's path: `CONSILIENCE_CHROME_PATH`, else what is installed, else None."""
    if named := settings.get("CONSILIENCE_CHROME_PATH"):
        return str(named)
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def launch_options(settings: BaseSettings) -> dict[str, object]:
    """Return what Chromium is started with; without a path, Playwright's own one is tried."""
    keys = trusted_keys(settings.get("CONSILIENCE_CA_FILE"))
    extra = [f"--ignore-certificate-errors-spki-list={','.join(keys)}"] if keys else []
    options: dict[str, object] = {"args": [*_FLAGS, *extra], "proxy": _NOWHERE}
    if path := executable(settings):
        options["executable_path"] = path
    return options


def trusted_keys(file: str | Path | None) -> list[str]:
    """Return the public keys of further authorities, as Chromium's flag takes them.

    Chromium trusts a chain in which the server sends a certificate with one of these keys.
    """
    if not file:
        return []
    found = x509.load_pem_x509_certificates(Path(file).read_bytes())
    keys = (
        one.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        for one in found
    )
    return [base64.b64encode(hashlib.sha256(key).digest()).decode() for key in keys]


def user_agent(version: str) -> str:
    """Return the name that this version has with a window; a headless one says so in its own."""
    major = version.partition(".")[0]
    return (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{major}.0.0.0 Safari/537.36"
    )
