"""Health of engines from files, recordings and the state database; the page that shows it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from framework.types import Verdict
from middlewares.cooldown import Cooldown
from middlewares.state import StateDatabase
from server.app import Application
from server.config import Environment, load
from server.health import SLOT_HOURS, SLOTS, Health, Live, Slot, by_need, examine, timeline
from server.status import render_status

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def application(folder: Path, **values: str) -> Application:
    environment = Environment({"CONSILIENCE_STATE_DIR": str(folder), **values})
    return Application(load(environment), environment)


def test_answers_and_rests_of_other_processes_are_seen(tmp_path: Path) -> None:
    with StateDatabase(tmp_path / "state.db") as state:
        cooldown = Cooldown(state)
        for verdict in (Verdict.OK, Verdict.OK, Verdict.EMPTY):
            cooldown.note("mojeek", verdict)
        cooldown.note("bing", Verdict.CAPTCHA)
        cooldown.all()
        cooldown.history("bing")
    found = {one.id: one for one in examine(application(tmp_path), ["mojeek", "bing", "tavily"])}

    assert (found["mojeek"].state, found["mojeek"].good, found["mojeek"].answers) == ("fine", 3, 3)
    assert (found["bing"].state, found["bing"].resting) == ("resting", "captcha")
    assert found["bing"].resting_until is not None
    assert sum(slot.refused for slot in found["bing"].slots) == 1
    assert found["tavily"].state == "disabled"
    assert "TAVILY_API_KEY" in found["tavily"].disabled


def test_keys_are_counted_and_never_told(tmp_path: Path) -> None:
    (one,) = examine(application(tmp_path, TAVILY_API_KEYS="first-key,second-key"), ["tavily"])

    assert (one.state, one.keys, one.keys_resting) == ("fine", 2, 0)
    assert "first-key" not in render_status([one], NOW)


def test_a_broken_file_comes_first(tmp_path: Path) -> None:
    engines = tmp_path / "engines.d"
    engines.mkdir()
    (engines / "broken.yaml").write_text("schema: 1\nid: broken\n")
    app = application(tmp_path / "state", CONSILIENCE_ENGINES_DIR=str(engines))
    found = examine(app)

    assert (found[0].id, found[0].state) == ("broken", "broken")
    assert "is missing" in found[0].problems[0]


def test_a_broken_recording_is_told_unless_only_the_state_is_wanted(tmp_path: Path) -> None:
    app = application(tmp_path)
    packaged = app.catalogue.entry("mojeek").path.parent.parent
    for name in ("engines.d/mojeek.yaml", "fixtures/mojeek"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (packaged / name).is_dir() else shutil.copy
        copy(packaged / name, tmp_path / name)
    (tmp_path / "fixtures/mojeek/ok/expected.json").write_text('{"verdict": "empty"}')
    app = application(tmp_path, CONSILIENCE_ENGINES_DIR=str(tmp_path / "engines.d"))

    assert examine(app, ["mojeek"])[0].state == "broken"
    assert examine(app, ["mojeek"], offline=False)[0].state == "fine"


@pytest.mark.parametrize(
    ("health", "state"),
    [
        (Health(id="a", name="A"), "fine"),
        (Health(id="a", name="A", problems=("x",)), "broken"),
        (Health(id="a", name="A", resting="captcha"), "resting"),
        (Health(id="a", name="A", live=Live(verdict=Verdict.CHANGED)), "trouble"),
        (Health(id="a", name="A", live=Live(verdict=Verdict.OK, drift=0.2)), "trouble"),
        (Health(id="a", name="A", live=Live(verdict=Verdict.EMPTY)), "fine"),
        (Health(id="a", name="A", history=((Verdict.TIMEOUT, 3), (Verdict.OK, 1))), "trouble"),
        (Health(id="a", name="A", history=((Verdict.TIMEOUT, 1), (Verdict.OK, 1))), "fine"),
    ],
    ids=["nothing", "problems", "rest", "changed", "drift", "empty", "mostly bad", "half bad"],
)
def test_states(health: Health, state: str) -> None:
    assert health.state == state


def test_a_week_has_slots_of_six_hours() -> None:
    hour = 3600.0
    now = 1_000_000.0
    hours = [
        ("a", now - 1, Verdict.OK, 3),
        ("a", now - (SLOT_HOURS - 0.1) * hour, Verdict.CAPTCHA, 1),
        ("a", now - (SLOT_HOURS - 0.2) * hour, Verdict.BLOCKED, 1),
        ("a", now - (SLOT_HOURS + 0.1) * hour, Verdict.CHANGED, 1),
        ("a", now - 8 * 24 * hour, Verdict.OK, 1),
        ("b", now - 2, Verdict.RESTING, 1),
        ("c", now - 2, Verdict.TIMEOUT, 1),
    ]
    slots = timeline(hours, now)

    assert slots["a"][-1] == Slot(good=3, refused=2)
    assert slots["a"][-2] == Slot(changed=1)
    assert len(slots["a"]) == SLOTS
    assert set(slots) == {"a", "c"}
    assert slots["c"][-1].failed == 1


ENGINES = [
    Health(id="good", name="Good <b>", history=((Verdict.OK, 4),),
           slots=(*(Slot() for _ in range(SLOTS - 1)), Slot(good=3, refused=1))),
    Health(id="bad", name="Bad", problems=('engines.d/bad.yaml:1:1: "x" & <script>',)),
    Health(id="live", name="L", live=Live(verdict=Verdict.OK, rows=9, elapsed_ms=120)),
]  # fmt: skip


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def test_the_page_needs_nothing_else_and_escapes_everything() -> None:
    text = render_status(by_need(ENGINES), NOW)
    parsed = _Tags()
    parsed.feed(text)

    assert "script" not in parsed.tags
    assert parsed.links == []
    assert parsed.tags.count("svg") == 1
    assert "Good &lt;b&gt;" in text
    assert "&amp; &lt;script&gt;" in text
    assert text.index('id="bad"') < text.index('id="good"')
    assert 'aria-label="3 answered, 0 could not be read, 1 refused, 0 failed"' in text
    assert "As of 2026-03-04 05:06 UTC" in text


@pytest.mark.browser
def test_a_phone_shows_the_page_without_sideways_scrolling(tmp_path: Path) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not installed")
    long = replace(ENGINES[1], name="word" * 40, problems=("x" * 300,))
    page = render_status([*ENGINES, long], NOW)
    probe = "<script>document.title = document.documentElement.scrollWidth + '/' + innerWidth"
    file = tmp_path / "status.html"
    file.write_text(page.replace("</body>", f"{probe}</script></body>"))
    done = subprocess.run(
        [program, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=500,900",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    wide, window = done.stdout.partition("<title>")[2].partition("<")[0].split("/")

    assert int(wide) <= int(window)
