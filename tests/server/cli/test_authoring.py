"""`consilience engines new|try|record|heal|migrate|doctor|report` and `consilience batch`."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.command import Run

URL = "https://shelf.example.org/find?q=night+sky"
KEY = "operator-key-0123456789"


def hit(number: int, *, name: str = "hit") -> str:
    return (
        f'<li class="{name}"><h3><a href="https://s{number}.example/">Result number {number}</a>'
        "</h3>"
        f"<p class=text>What stands on page {number}, in a sentence of some length.</p></li>"
    )


def page(*, name: str = "hit", note: str = "") -> str:
    return f"<html><body><ol>{''.join(hit(n, name=name) for n in range(4))}</ol>{note}</body>"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text(page())
    return tmp_path


@pytest.fixture
def shelf(project: Path, run: Run) -> Path:
    done = run("engines", "new", "shelf", "--url", URL, "--from", "page.html")
    assert done.code == 0, done.error
    return project


def test_new_writes_a_file_and_a_recording_that_pass_the_check(shelf: Path, run: Run) -> None:
    done = run("engines", "check", "shelf")

    assert (done.code, done.out) == (0, "1 engine, 1 recording: all fine\n")
    expected = json.loads((shelf / "fixtures/shelf/ok/expected.json").read_text())
    assert [row["rank"] for row in expected["results"]] == [1, 2, 3, 4]


def test_new_names_the_engine_after_its_site(project: Path, run: Run) -> None:
    done = run(
        "engines", "new", "--url", "https://www.books.example/s?q=sky", "--from", "page.html"
    )

    assert done.code == 0, done.error
    assert (project / "engines.d/books.yaml").exists()


def test_new_replaces_nothing_unless_told(shelf: Path, run: Run) -> None:
    words = ("engines", "new", "shelf", "--url", URL, "--from", "page.html")
    done = run(*words)

    assert done.code == 1
    assert "engines.d/shelf.yaml exists" in done.error
    assert run(*words, "--force").code == 0


@pytest.mark.parametrize(
    ("body", "url", "part"),
    [
        ("<p>Nothing that repeats.</p>", URL, "nothing in the page repeats"),
        (page(), "https://shelf.example.org/find?x=1", "does not hold the query"),
        (page(note=f"<p>{'sk-live-'}0123456789abcdef0123"), URL, "looks like a key"),
    ],
    ids=["no rows", "no query", "a key"],
)
def test_new_says_why_there_is_no_proposal(
    project: Path, run: Run, body: str, url: str, part: str
) -> None:
    (project / "page.html").write_text(body)
    done = run("engines", "new", "shelf", "--url", url, "--from", "page.html")

    assert done.code == 1
    assert part in done.error
    assert not (project / "engines.d").exists()


def test_try_tells_each_pick(run: Run) -> None:
    done = run("engines", "try", "bing", "javascript tutorial", "--replay")

    assert done.code == 0
    assert "verdict: ok; 10 rows" in done.out
    assert "www.bing.com: 200" in done.out

    data = json.loads(run("engines", "try", "bing", "x", "--replay", "--json").out)
    assert {"title", "url"} <= {field["name"] for field in data["fields"]}
    assert data["exchanges"][0]["status"] == 200


def test_try_shows_session_steps(run: Run) -> None:
    data = json.loads(run("engines", "try", "pubmed", "x", "--replay", "--json").out)

    assert [one["step"] != "" for one in data["exchanges"]] == [True, False]


def test_record_keeps_a_saved_answer_once(shelf: Path, run: Run) -> None:
    (shelf / "none.html").write_text("<p class=none>Nothing. Write to jane@mail.example.com</p>")
    words = ("engines", "record", "shelf", "no-results", "xyzzy", "--from", "none.html")
    done = run(*words)

    assert done.code == 0
    assert "taken out: 1 mail addresses" in done.out
    assert "jane" not in (shelf / "fixtures/shelf/no-results/response.html").read_text()
    assert run(*words).code == 1
    assert run(*words, "--force").code == 0


@contextmanager
def serving(body: str) -> Iterator[Site]:
    """A local site in a loop of its own, since commands run one themselves."""
    site = Site({"/find": Reply(body=body.encode(), headers={"Content-Type": "text/html"})})
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(site.__aenter__(), loop).result(20)
    try:
        yield site
    finally:
        asyncio.run_coroutine_threadsafe(site.__aexit__(None, None, None), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


LOCAL = """\
schema: 1
id: local
name: Local
kind: web
settings: {base: {env: LOCAL_BASE}}
keys: {local: {env: LOCAL_KEY}}
request:
  url: "{{ settings.base }}/find"
  query: {q: "{{ query }}", k: "{{ keys.local }}"}
response:
  format: html
  rows: {each: li}
  fields: {title: a, url: "a::attr(href)"}
"""


@pytest.mark.parametrize("leak", ["", f"<p>your key is {KEY}"], ids=["clean", "the key is shown"])
def test_record_asks_and_takes_keys_out(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, leak: str
) -> None:
    (project / "engines.d").mkdir()
    (project / "engines.d/local.yaml").write_text(LOCAL)
    with serving(page(note=leak)) as site:
        monkeypatch.setenv("LOCAL_BASE", site.url("").rstrip("/"))
        monkeypatch.setenv("LOCAL_KEY", KEY)
        monkeypatch.setenv("CONSILIENCE_ALLOW_NETWORKS", "127.0.0.0/8")
        done = run("engines", "record", "local", "ok", "night sky")

    assert done.code == 0, done.error
    folder = project / "fixtures/local/ok"
    assert site.seen[0].headers["host"].startswith("127.0.0.1")
    assert all(KEY not in file.read_text() for file in folder.iterdir())
    assert len(json.loads((folder / "expected.json").read_text())["results"]) == 4


def test_heal_writes_a_patch_and_leaves_the_file(shelf: Path, run: Run) -> None:
    (shelf / "changed.html").write_text(page(name="card").replace("class=text", "class=lead"))
    before = (shelf / "engines.d/shelf.yaml").read_text()
    done = run("engines", "heal", "shelf", "changed.html", "--url", URL)

    assert done.code == 0
    assert "4 rows can be read again; certainty 1.00" in done.out
    assert (shelf / "engines.d/shelf.yaml").read_text() == before
    assert (shelf / "shelf.patch").read_text().startswith("--- a/engines.d/shelf.yaml\n")

    applied = run("engines", "heal", "shelf", "changed.html", "--url", URL, "--apply")
    assert applied.code == 0
    assert run("engines", "check", "shelf").code == 0
    read = json.loads(run("engines", "read", "shelf", "changed.html", "--json").out)
    assert [row["title"] for row in read["results"]] == [f"Result number {n}" for n in range(4)]
    assert read["results"][0]["snippet"].startswith("What stands on page 0")


def test_heal_says_when_there_is_nothing_to_do_or_to_find(shelf: Path, run: Run) -> None:
    fine = run("engines", "heal", "shelf", "page.html")
    (shelf / "gone.html").write_text("<p>We have closed.</p>")
    gone = run("engines", "heal", "shelf", "gone.html")

    assert (fine.code, fine.out) == (0, "no proposal: the page is read without a fault\n")
    assert (gone.code, gone.out) == (1, "no proposal: nothing in the page repeats like rows\n")


def test_migrate_has_nothing_to_do_today(run: Run) -> None:
    done = run("engines", "migrate", "bing", "brave")

    assert (done.code, done.out) == (0, "2 files, 2 in the current version\n")


def test_doctor_and_report(shelf: Path, run: Run) -> None:
    done = run("engines", "doctor", "shelf", "bing", "--json")
    data = {one["id"]: one for one in json.loads(done.out)}

    assert done.code == 0
    assert data["shelf"]["cases"] == 1
    assert data["bing"]["state"] == "fine"

    assert run("engines", "report", "shelf", "-o", "status.html").code == 0
    assert "Shelf" in (shelf / "status.html").read_text()


def test_doctor_fails_where_a_recording_does(shelf: Path, run: Run) -> None:
    (shelf / "fixtures/shelf/ok/response.html").write_text("<p>Something else.</p>")
    done = run("engines", "doctor", "shelf")

    assert done.code == 1
    assert "1 broken" in done.out


def test_doctor_asks_live(run: Run) -> None:
    done = run("engines", "doctor", "bing", "mojeek", "--live", "--replay")

    assert done.code == 0
    assert "asking bing" in done.error
    assert "ok, 10 rows" in done.out


def test_batch_tells_its_figures_and_goes_on(project: Path, run: Run) -> None:
    (project / "q.txt").write_text("moon\nnight sky\n")
    words = ("batch", "q.txt", "--engines", "mojeek,bing", "-o", "out.jsonl", "--replay")
    first, second = run(*words), run(*words)
    records = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]

    assert (first.code, second.code) == (0, 0)
    assert "out.jsonl: 2 queries in" in first.error
    assert "2 of 2 queries are done; going on" in second.error
    assert sorted(record["query"] for record in records) == ["moon", "night sky"]
    assert {vote["engine"] for vote in records[0]["results"][0]["votes"]} <= {"mojeek", "bing"}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("batch", "none.txt", "-o", "o"), "none.txt: cannot be read"),
        (("batch", "page.html", "--engines", "nosuch", "-o", "o"), 'no engine "nosuch"'),
        (("engines", "heal", "bing", "none.html"), "none.html: No such file"),
        (("engines", "record", "nosuch", "ok", "x", "--replay"), 'no engine "nosuch"'),
        (("engines", "report", "-o", "no/such/folder.html"), "No such file or directory"),
    ],
    ids=["batch file", "batch engine", "heal file", "record engine", "report folder"],
)
def test_mistakes_are_one_sentence(
    project: Path, run: Run, words: tuple[str, ...], part: str
) -> None:
    done = run(*words)

    assert done.code == 1
    assert part in done.error
    assert done.error.count("\n") == 1
