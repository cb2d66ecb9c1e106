"""Prove an engine offline: its file, and every recorded answer read exactly as expected."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framework.spec.compiler import Engine, beside, compile_source
from framework.spec.fixtures import (
    Fixture,
    FixtureError,
    as_data,
    fixture_folders,
    load_fixture,
)
from framework.spec.places import Places, dotted
from framework.spec.problems import Fault, File, Mark, Problem, problem
from framework.spec.source import load_file, shown
from framework.spec.trial import trial
from framework.types import Page, Query, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from framework.spec.model import TestCase

__all__ = [
    "CaseReport",
    "EngineCheck",
    "check_compiled",
    "check_engine",
    "difference",
    "secret_strings",
    "secrets",
]

#: What a key, a token or a password looks like: words that name one with a long value, and the
#: fixed beginnings of well-known keys.
_SECRETS = re.compile(
    r"""(?ix)
    \b(?:sk|pk|rk)[-_](?:live|test|proj|ant)[-_][a-z0-9_-]{16,}
    | \bgh[pousr]_[a-z0-9]{30,} | \bgithub_pat_[a-z0-9_]{30,} | \bglpat-[a-z0-9_-]{18,}
    | \bAIza[a-z0-9_-]{33,} | \bAKIA[A-Z0-9]{16}\b | \bxox[abprs]-[a-z0-9-]{12,}
    | \btvly-[a-z0-9-]{16,} | \bBSA[a-z0-9_-]{24,} | \bhf_[a-z0-9]{30,} | \bsk-[a-z0-9]{20,}
    | \beyJ[a-z0-9_-]{12,}\.eyJ[a-z0-9_-]{12,}\.
    | \bBearer\s+[a-z0-9._~+/-]{20,}
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----
    | (?<![a-z0-9])(?:api[-_]?key|apikey|access[-_]?token|auth[-_]?token|client[-_]?secret
        |password|subscription[-_]?token)["']?\s*[:=]\s*["']?(?=[a-z_-]*[0-9])[a-z0-9_-]{16,}
    """
)
_SHOWN = 6
_PLANNED = "questions with and without a region, a language, dates and domains are tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReport:
    """What was read from one recorded answer; `failures` is empty where all is as expected."""

    case: str
    verdict: Verdict | None = None
    rows: int = 0
    drift: float = 0.0
    failures: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Everything is as expected."""
        return not self.failures


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCheck:
    """What a check found: problems of the file and its fixtures, and a report for each case."""

    id: str
    problems: tuple[Problem, ...] = ()
    cases: tuple[CaseReport, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """No error and no failing case; warnings are allowed."""
        return not any(item.severity == "error" for item in self.problems)


def check_engine(path: Path, fixtures: Path, parents: Path | None = None) -> EngineCheck:
    """Check an engine's file and its recorded answers in `fixtures/<id>/`; nothing is sent.

    `parents` is the folder of the files that it may extend, by default its own.
    """
    compiled = compile_source(load_file(path), beside(parents or path.parent), path.stem)
    if compiled.engine is None:
        return EngineCheck(id=path.stem, problems=compiled.problems)
    return check_compiled(compiled.engine, path, fixtures, compiled.problems)


def check_compiled(
    engine: Engine, path: Path, fixtures: Path, problems: tuple[Problem, ...] = ()
) -> EngineCheck:
    """Check the recorded answers of an engine that is compiled already."""
    tests = {test.case: test for test in engine.spec.tests}
    folders = {folder.name: folder for folder in fixture_folders(fixtures, engine.id)}
    found = list(problems)
    reports: list[CaseReport] = []
    missing: list[Fault] = []
    for case in [*tests, *(name for name in folders if name not in tests)]:
        if case not in folders:
            missing.append(_missing(engine, case, fixtures))
            continue
        report, more = _case(engine, folders[case], tests.get(case))
        reports.append(report)
        found += more
    faults = [Fault(("request",), "E502", message, _PLANNED) for message in trial(engine)]
    found += _placed(path, [*missing, *faults, *_unproven(engine)])
    return EngineCheck(id=engine.id, problems=tuple(sorted(found)), cases=tuple(reports))


def _at(path: Path, where: str, message: str, hint: str) -> Problem:
    return problem(Mark(File(shown(path))), "E502", where, message, hint)


def _missing(engine: Engine, case: str, fixtures: Path) -> Fault:
    tests = engine.spec.tests
    index = next(i for i, test in enumerate(tests) if test.case == case)
    return Fault(
        ("tests", index, "case"),
        "E502",
        f'case "{case}" has no recorded answer',
        f"expected in {shown(fixtures / engine.id / case)}; "
        f"record it: consilience engines record {engine.id} {case} QUERY",
        case,
    )


def _placed(path: Path, faults: Sequence[Fault]) -> list[Problem]:
    """Return the faults as problems with their places in the file, read again for them."""
    root = load_file(path).root if faults else None
    if root is None:
        return [_at(path, dotted(fault.at), fault.message, fault.hint) for fault in faults]
    return Places(root).problems(faults)


def _case(engine: Engine, folder: Path, test: TestCase | None) -> tuple[CaseReport, list[Problem]]:
    try:
        fixture = load_fixture(folder, engine.spec.request.url)
    except FixtureError as error:
        failure = CaseReport(case=folder.name, failures=(error.message,))
        hint = error.hint or "record the case anew"
        return failure, list(error.problems) or [_at(folder, "", error.message, hint)]
    report = _read(engine, fixture, test)
    # Of a case's many differences the first alone carries the remedy.
    remedy = f"consilience engines heal {engine.id} proposes new selectors"
    return report, [
        _at(folder, "", message, "" if number else remedy)
        for number, message in enumerate(report.failures)
    ]


def _read(engine: Engine, fixture: Fixture, test: TestCase | None) -> CaseReport:
    page = _page(engine, fixture)
    failures = [*secrets(fixture)]
    failures += _against_test(page, test) if test is not None else []
    if fixture.expected is not None:
        failures += difference(_expected(fixture.expected), _read_data(engine, fixture, page))
    elif page.rows:
        failures.append("expected.json is missing")
    return CaseReport(
        case=fixture.case,
        verdict=page.verdict,
        rows=len(page.rows),
        drift=page.drift,
        failures=tuple(failures),
    )


def _page(engine: Engine, fixture: Fixture) -> Page:
    query = Query(text=fixture.meta.query or "query", page=fixture.meta.page)
    if fixture.meta.step is None:
        return engine.read(fixture.response, fixture.meta.page, query)
    taken = engine.take(fixture.meta.step, fixture.response)
    return taken if isinstance(taken, Page) else Page(verdict=Verdict.OK)


def _read_data(engine: Engine, fixture: Fixture, page: Page) -> dict[str, object]:
    data = as_data(page)
    if fixture.meta.step is not None and page.verdict is Verdict.OK:
        data["taken"] = engine.take(fixture.meta.step, fixture.response)
    return _expected(data)


def _expected(data: Mapping[str, object]) -> dict[str, object]:
    """Leave out what says nothing: an empty snippet, no extras, no results."""
    kept = {key: value for key, value in data.items() if value not in ({}, [], None)}
    results = kept.get("results")
    if isinstance(results, list):
        kept["results"] = [
            {k: v for k, v in row.items() if v != ""} if isinstance(row, dict) else row
            for row in results
        ]
    return kept


def _against_test(page: Page, test: TestCase) -> list[str]:
    failures = []
    if page.verdict is not test.expect:
        why = f" ({page.detail})" if page.detail else ""
        failures.append(f"verdict is {page.verdict.value}, not {test.expect.value}{why}")
    if test.rows is not None and len(page.rows) < test.rows:
        failures.append(f"{len(page.rows)} rows, fewer than {test.rows}")
    return failures


def secrets(fixture: Fixture) -> Iterator[str]:
    """Yield a sentence for every string of a recorded answer that looks like a key."""
    for path in sorted(fixture.path.iterdir()):
        for line, start in secret_strings(path.read_bytes().decode("utf-8", "replace")):
            yield f'{path.name}:{line}: "{start}…" looks like a key; replace it'


def secret_strings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the first letters of every string of a text that looks like a key."""
    for match in _SECRETS.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[0][:_SHOWN]


def difference(expected: object, found: object, at: str = "") -> list[str]:
    """Return a sentence for each value that is not as expected, with its path."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = list(dict.fromkeys([*expected, *found]))
        parts = [difference(expected.get(k), found.get(k), f"{at}.{k}" if at else k) for k in keys]
        return [line for part in parts for line in part]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for i, (a, b) in pairs for line in difference(a, b, f"{at}[{i}]")]
    if isinstance(expected, list) and isinstance(found, list):
        return [f"{at}: {len(found)} items, not {len(expected)}"]
    same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
    return [] if same else [f"{at}: {_short(found)}, not {_short(expected)}"]


def _short(value: object) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 120 else text[:119] + "…"


def _unproven(engine: Engine) -> Iterator[Fault]:
    """Yield nothing while the compiler already demands every test of a stable engine."""
    if engine.spec.tests or engine.spec.status.value == "experimental":
        return
    hint = f"record one: consilience engines record {engine.id} ok QUERY"
    yield Fault(("tests",), "E502", f'engine "{engine.id}" has no tests', hint)
