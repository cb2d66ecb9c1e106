"""The pools file: what it may say, and how its mistakes are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.errors import InvalidInputError
from middlewares.pools import ProxyRotation
from middlewares.pools_file import load_pools, read_pools

if TYPE_CHECKING:
    from pathlib import Path

FILE = """\
pools:
  default:
    rotation: least-used
    rest: 10s
    members:
      - socks5://me:${PASSWORD}@gate.test:1080
      - {url: "http://other.test:3128", weight: 2}
      - {scheme: https, host: third.test, port: 443, user: me, password: "${PASSWORD}"}
      - {host: "::1"}
  quiet:
    members: [http://quiet.test:1]
"""


def test_a_file_with_every_form(tmp_path: Path) -> None:
    path = tmp_path / "proxies.yaml"
    path.write_text(FILE)
    pools = load_pools(path, {"PASSWORD": "p@ss/word"})
    assert list(pools) == ["default", "quiet"]
    main = pools["default"]
    assert main.rotation is ProxyRotation.LEAST_USED
    assert [(report.name, report.weight) for report in main.reports()] == [
        ("socks5h://gate.test:1080", 1.0),
        ("http://other.test:3128", 2.0),
        ("https://third.test:443", 1.0),
        ("socks5h://[::1]:1080", 1.0),
    ]
    assert "socks5h://me:p%40ss%2Fword@gate.test:1080" in main
    assert "https://me:p%40ss%2Fword@third.test:443" in main


def test_a_variable_may_hold_a_whole_address() -> None:
    pools = read_pools("pools: {a: {members: ['${WAY_OUT}']}}", {"WAY_OUT": "http://a.test:1"})
    assert "http://a.test:1" in pools["a"]


MISTAKES = {
    "unknown key": (
        "pools:\n  default:\n    membres: [http://a.test:1]\n",
        ["p.yaml:3:5", "membres", 'did you mean "members"?'],
    ),
    "rotation": (
        "pools:\n  default:\n    rotation: random\n    members: [http://a.test:1]\n",
        ["p.yaml:3:15", "pools.default.rotation"],
    ),
    "no members": (
        "pools:\n  default:\n    members: []\n",
        ["p.yaml:3", "pools.default.members"],
    ),
    "weight": (
        "pools:\n  default:\n    members: [{url: http://a.test:1, weight: 0}]\n",
        ["p.yaml:3", "weight"],
    ),
    "address": (
        "pools:\n  default:\n    members: [socks4://a.test:1]\n",
        ["pools.default.members.0", "socks4"],
    ),
    "both forms": (
        "pools:\n  default:\n    members: [{url: http://a.test:1, host: a.test}]\n",
        ["pools.default.members.0", "either url or host"],
    ),
    "variable": (
        "pools:\n  default:\n    members: ['http://me:${NOPE}@a.test:1']\n",
        ["pools.default.members.0", "variable NOPE is not set"],
    ),
    "reserved name": (
        "pools:\n  direct:\n    members: [http://a.test:1]\n",
        ["pools.direct", "not a pool's name"],
    ),
    "no YAML": ("pools: [", ["p.yaml:1"]),
}


@pytest.mark.parametrize(("text", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_told_with_their_place(text: str, words: list[str]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_pools(text, {}, path="p.yaml")
    for word in words:
        assert word in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"proxies\.yaml"):
        load_pools(tmp_path / "proxies.yaml", {})
