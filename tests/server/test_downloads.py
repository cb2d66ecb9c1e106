"""Kept documents: room, order of leaving, absolute expiry, and who may read them."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import ConsilienceError
from middlewares.state import StateDatabase
from server.downloads import Downloads

ROOM, SECONDS = 100, 600.0
CALLERS = st.sampled_from(["ann", "bob"])
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), CALLERS, st.integers(0, ROOM)),
        st.tuples(st.just("get"), CALLERS, st.integers(0, 20)),
        st.tuples(st.just("wait"), CALLERS, st.integers(1, 400)),
    ),
    max_size=30,
)


class Model:
    """What is kept, in the order of use, the least recent first."""

    def __init__(self) -> None:
        self.now = 0.0
        self.kept: dict[str, tuple[str, bytes, float]] = {}

    def put(self, name: str, caller: str, body: bytes) -> None:
        self.expire()
        self.kept[name] = (caller, body, self.now + SECONDS)
        while sum(len(one[1]) for one in self.kept.values()) > ROOM:
            del self.kept[next(iter(self.kept))]

    def expire(self) -> None:
        self.kept = {name: one for name, one in self.kept.items() if one[2] > self.now}

    def get(self, name: str, caller: str) -> bytes | None:
        self.expire()
        owner, body, _ = self.kept.get(name, ("", b"", 0.0))
        if owner != caller:
            return None
        self.kept[name] = self.kept.pop(name)
        return body


@given(ACTIONS)
def test_it_keeps_what_a_simple_model_keeps(actions: list[tuple[str, str, int]]) -> None:
    model, names = Model(), list[str]()
    with StateDatabase() as database:
        downloads = Downloads(database, SECONDS, room=ROOM, clock=lambda: model.now)
        for action, caller, number in actions:
            model.now += 0.001
            if action == "put":
                body = bytes([len(names) % 256]) * number
                kept = downloads.put(caller, "report.md", body)
                names.append(kept.id)
                model.put(kept.id, caller, body)
            elif action == "wait":
                model.now += number
            elif names:
                name = names[number % len(names)]
                found = downloads.get(name, caller)
                assert (found.body if found else None) == model.get(name, caller)
            used = database.execute("SELECT total(length(body)) FROM downloads").fetchone()[0]
            assert used <= ROOM
        for name in names:
            owner = model.kept.get(name, ("ann", b"", 0.0))[0]
            found = downloads.get(name, owner)
            assert (found.body if found else None) == model.get(name, owner)


def test_reading_does_not_extend_a_document() -> None:
    now = [0.0]
    downloads = Downloads(StateDatabase(), SECONDS, clock=lambda: now[0])
    kept = downloads.put("ann", "report.md", b"text")
    for now[0] in (300.0, 599.0):
        assert downloads.get(kept.id, "ann") is not None

    now[0] = 600.0

    assert downloads.get(kept.id, "ann") is None
    assert downloads.ids("ann") == ()


def test_only_its_caller_reads_a_document() -> None:
    downloads = Downloads(StateDatabase(), SECONDS)
    kept = downloads.put("ann", "report.md", b"text")

    assert downloads.get(kept.id, "bob") is None
    assert downloads.ids("bob") == ()
    assert downloads.get(kept.id, "ann") == kept


def test_ids_cannot_be_guessed() -> None:
    downloads = Downloads(StateDatabase(), SECONDS)
    ids = {downloads.put("ann", "r", b"").id for _ in range(50)}

    assert len(ids) == 50
    assert {len(base64.urlsafe_b64decode(one)) * 8 for one in ids} == {192}


def test_what_is_larger_than_the_room_is_refused() -> None:
    downloads = Downloads(StateDatabase(), SECONDS, room=ROOM)

    with pytest.raises(ConsilienceError, match="more than the 100"):
        downloads.put("ann", "report.md", bytes(ROOM + 1))
