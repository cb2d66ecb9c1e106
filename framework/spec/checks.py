"""What a spec's models cannot say by themselves: names, addresses, tests, verdict order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.spec.address import host_fault, host_of, is_operator_address
from framework.spec.check_reading import check_reading
from framework.spec.evidence import by_content, is_positive
from framework.spec.fields import EXTRAS, REQUIRED, allowed
from framework.spec.problems import Fault, suggest
from framework.types import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from framework.spec.model import Spec

__all__ = ["check"]

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def check(spec: Spec, stem: str | None = None) -> Iterator[Fault]:
    """Yield what is wrong with a valid model; `stem` is the file's name without its ending."""
    if stem is not None and spec.id != stem:
        hint = f"rename the file to {spec.id}.yaml, or write id: {stem}"
        yield Fault(("id",), "E103", f'"{spec.id}" is not the name of the file', hint)
    for rule in _RULES:
        yield from rule(spec)
    yield from check_reading(spec)


def _fields(spec: Spec) -> Iterator[Fault]:
    known = list(allowed(spec.kind))
    for name in spec.response.fields:
        if name not in known:
            yield _not_allowed(("response", "fields", name), name, known)
    for name in REQUIRED:
        if name not in spec.response.fields:
            hint = f"a row needs it: write {name}: SELECTOR"
            yield Fault(("response", "fields"), "E102", f'"{name}" is missing', hint, key=True)
    for name in spec.response.extras:
        if name not in EXTRAS:
            yield _not_allowed(("response", "extras", name), name, list(EXTRAS))


def _not_allowed(at: tuple[str, ...], name: str, known: list[str]) -> Fault:
    return Fault(at, "E305", f'"{name}" is not allowed here', suggest(name, known), key=True)


def _names(spec: Spec) -> Iterator[Fault]:
    named = (("keys", spec.keys), ("settings", spec.settings))
    for part, names in named:
        for name in names:
            if not _NAME.fullmatch(name):
                yield _bad_name((part, name), name)
    for index, step in enumerate(spec.session):
        for name in step.take:
            if not _NAME.fullmatch(name):
                yield _bad_name(("session", index, "take", name), name)


def _bad_name(at: tuple[str | int, ...], name: str) -> Fault:
    hint = "a name has lower-case letters, digits and _, and starts with a letter"
    return Fault(at, "E103", f'"{name}" is not a name for templates', hint, key=True)


def _steps(spec: Spec) -> Iterator[Fault]:
    seen: set[str] = set()
    taken = spec.paging.send_as if spec.paging is not None and spec.paging.by == "token" else ""
    for index, step in enumerate(spec.session):
        if step.id in seen or step.id == taken:
            hint = "give each session step a name of its own"
            yield Fault(("session", index, "id"), "E103", f'the name "{step.id}" is taken', hint)
        seen.add(step.id)
        host, own = host_of(step.request.url), host_of(spec.request.url)
        foreign = host != own and host not in spec.fetch.same_site
        if foreign and not is_operator_address(step.request.url) and "{" not in host:
            hint = f"add it to fetch: {{same_site: [{host}]}}"
            at = ("session", index, "request", "url")
            yield Fault(at, "E201", f'"{host}" is not the host of request.url', hint, host)


def _sites(spec: Spec) -> Iterator[Fault]:
    for index, host in enumerate(spec.fetch.same_site):
        fault = host_fault(host)
        if fault:
            yield Fault(
                ("fetch", "same_site", index), "E201", fault, "write a host: www.example.org"
            )


def _verdicts(spec: Spec) -> Iterator[Fault]:
    for index, rule in enumerate(spec.verdicts):
        if rule.verdict is Verdict.EMPTY and not is_positive(rule.when):
            hint = (
                "a block can look the same: name something that only a page without results has, "
                "or combine it: {all: [{…}, {not: {…}}]}"
            )
            yield Fault(
                ("verdicts", index, "when"),
                "E501",
                'a negative condition alone cannot be "empty"',
                hint,
            )


def _tests(spec: Spec) -> Iterator[Fault]:
    declared = {rule.verdict for rule in spec.verdicts} | {Verdict.OK, Verdict.CHANGED}
    declared.add(Verdict.ERROR)
    for index, test in enumerate(spec.tests):
        if test.expect not in declared:
            hint = suggest(test.expect.value, sorted(declared))
            at = ("tests", index, "expect")
            yield Fault(at, "E103", f'no verdict "{test.expect.value}" is declared', hint)
    cases = [test.case for test in spec.tests]
    for index, case in enumerate(cases):
        if case in cases[:index]:
            hint = "remove it, or name the folder of another recording"
            yield Fault(("tests", index, "case"), "E103", f'case "{case}" stands here twice', hint)


def _proof(spec: Spec) -> Iterator[Fault]:
    if spec.status is not Status.STABLE:
        return
    expected = {test.expect for test in spec.tests}
    needed = [Verdict.OK]
    needed += [rule.verdict for rule in spec.verdicts if by_content(rule.when)]
    for verdict in dict.fromkeys(needed):
        if verdict not in expected:
            hint = f"add a test with expect: {verdict.value}, or write status: experimental"
            message = f'a stable engine needs a test that expects "{verdict.value}"'
            at = ("tests",) if spec.tests else ("status",)
            yield Fault(at, "E502", message, hint)


def _retired(spec: Spec) -> Iterator[Fault]:
    if spec.status is Status.DEPRECATED:
        hint = f'use "{spec.replaced_by}"' if spec.replaced_by else "name replaced_by"
        yield Fault(("status",), "W102", f'engine "{spec.id}" is deprecated', hint)
    elif spec.replaced_by:
        hint = "write status: deprecated, or remove it"
        yield Fault(("replaced_by",), "E103", "only a deprecated engine is replaced", hint)


_RULES: tuple[Callable[[Spec], Iterator[Fault]], ...] = (
    _fields,
    _names,
    _steps,
    _sites,
    _verdicts,
    _tests,
    _proof,
    _retired,
)
