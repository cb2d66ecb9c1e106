"""Run in its own network and mount namespace: every leak would land in a listener of ours.

All of IPv4 is routed to loopback, names are asked of a resolver that records the question, and
ports 80, 443 and 853 accept whatever comes. Prints what each mode returned and what was trapped.

    unshare --map-root-user --net --mount python tests/support/trap.py MODE…
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import cast

from framework.errors import UnavailableError
from framework.types import FetchMode, HttpRequest, HttpResponse
from spiders.hub import Hub
from spiders.replay import ReplayProxy

PORTS = (80, 443, 853)
PAGE = b"""<!doctype html><p id=a>x</p><script>a.textContent = 'y'</script>
<img src="https://other.example/i.png"><script src="http://third.example/s.js"></script>"""


class Trap:
    """Counts direct connections and records questions for names."""

    def __init__(self) -> None:
        self.connections: list[str] = []
        self.names: list[str] = []

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = writer.get_extra_info("sockname")[:2]
        self.connections.append(f"{host}:{port}")
        writer.close()

    def take(self) -> dict[str, list[str]]:
        taken = {"connections": self.connections, "names": self.names}
        self.connections, self.names = [], []
        return taken


class Resolver(asyncio.DatagramProtocol):
    """Answers every question with one public address, which the trap owns too."""

    def __init__(self, trap: Trap) -> None:
        self.trap = trap

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1"))
            at += 1 + data[at]
        self.trap.names.append(".".join(labels))
        question = data[12 : at + 5]
        is_a = data[at + 1 : at + 3] == b"\0\1"
        record = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + bytes([93, 184, 216, 34]) if is_a else b""
        counts = b"\0\1" + (b"\0\1" if is_a else b"\0\0") + b"\0\0\0\0"
        self.transport.sendto(data[:2] + b"\x81\x80" + counts + question + record, addr)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def prepare(folder: Path) -> None:
    (folder / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    run("mount", "--bind", str(folder / "resolv.conf"), "/etc/resolv.conf")
    ip = shutil.which("ip") or "/sbin/ip"
    run(ip, "link", "set", "lo", "up")
    run(ip, "route", "add", "local", "0.0.0.0/0", "dev", "lo")


def recorded(request: HttpRequest) -> HttpResponse:
    if request.url.endswith("/robots.txt"):
        return HttpResponse(url=request.url, body=b"User-agent: *\nAllow: /\n")
    if request.url.endswith("/away"):
        away = (("Location", "https://second.example/page"),)
        return HttpResponse(url=request.url, status=302, headers=away)
    return HttpResponse(url=request.url, headers=(("Content-Type", "text/html"),), body=PAGE)


async def outcome(hub: Hub, mode: FetchMode, proxy: str | None) -> str:
    shots: list[bytes] = []
    wanted = {"robots": "obey", "refresh": True, "retry": False, "screenshot": shots}
    request = HttpRequest(url="https://first.example/away")
    try:
        answer = await hub.fetch(request, mode=mode, proxy=proxy, timeout=15, meta=wanted)
    except UnavailableError as error:
        return error.code
    return "ok" if answer.url == "https://second.example/page" else answer.url


async def main(modes: list[str], folder: Path) -> None:
    trap, found = Trap(), {}
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: Resolver(trap), local_addr=("127.0.0.1", 53)
    )
    servers = [await asyncio.start_server(trap.accept, "0.0.0.0", port) for port in PORTS]
    async with ReplayProxy(answer=recorded, users={"ann": "secret"}) as proxy:
        assert proxy.ca is not None
        proxy.ca.cert_pem.write_to_path(str(folder / "ca.pem"))
        ways = {
            "good socks": proxy.url("socks5h", "ann"),
            "local socks": proxy.url("socks5", "ann"),
            "good http": proxy.url("http", "ann"),
            "wrong password": proxy.url("socks5h", "ann", "wrong"),
            "dead": "socks5h://127.0.0.1:1",
        }
        async with Hub({"CONSILIENCE_CA_FILE": folder / "ca.pem"}) as hub:
            for mode in map(FetchMode, modes):
                for name, way in ways.items():
                    code = await outcome(hub, mode, way)
                    found[f"{mode} {name}"] = {"code": code, **trap.take()}
                code = await outcome(hub, mode, None)
                found[f"{mode} direct"] = {"code": code, **trap.take()}
    transport.close()
    for server in servers:
        server.close()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name, contextlib.suppress(KeyboardInterrupt):
        prepare(Path(name))
        asyncio.run(main(sys.argv[1:], Path(name)))
