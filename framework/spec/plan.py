"""From a question to requests: the search request of a page, its session steps, the next page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.spec.address import same_site
from framework.spec.context import PER_PAGE, Variables, build_context, scope_of
from framework.spec.request import CompiledRequest, compile_request

if TYPE_CHECKING:
    from framework.spec.model import Spec
    from framework.spec.problems import Fault
    from framework.types import HttpRequest, Next, Query

__all__ = ["Planner", "Step", "compile_planner"]

#: How long a session step's values are kept where the file does not say, in seconds.
DEFAULT_TTL = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A session step to make before the search request.

    `scope` says who shares its values for `ttl` seconds; with `per_page` they belong to one page
    of one query.
    """

    id: str
    ttl: float
    scope: str
    per_page: bool


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans an engine's requests; every template is compiled once."""

    spec: Spec
    request: CompiledRequest
    steps: tuple[Step, ...]
    step_requests: tuple[CompiledRequest, ...]

    @property
    def max_page(self) -> int | None:
        """The last page that may be asked for; None where there is no end."""
        return 1 if self.spec.paging is None else self.spec.paging.max

    def plan(self, query: Query, page: int, variables: Variables) -> HttpRequest:
        """Return the search request of a page.

        Raises InvalidInputError for a page out of reach, MissingValueError for a key, a setting or
        a session value that is not there, TemplateError for values that do not fit.
        """
        self._check(page, variables)
        context = build_context(self.spec, query, page, variables)
        return self.request.build(context, self._mirror(variables))

    def plan_step(
        self, step: Step | str, query: Query, page: int, variables: Variables
    ) -> HttpRequest:
        """Return the request of a session step; raises what `plan` raises."""
        name = step if isinstance(step, str) else step.id
        for known, request in zip(self.steps, self.step_requests, strict=True):
            if known.id == name:
                return request.build(build_context(self.spec, query, page, variables))
        raise InvalidInputError(f'engine "{self.spec.id}" has no session step "{name}"')

    def plan_next(self, query: Query, following: Next, variables: Variables) -> HttpRequest | None:
        """Return the request of the next page, or None where it would leave the engine's sites."""
        limit = self.max_page
        if limit is not None and following.page > limit:
            return None
        if following.request is None:
            cursor = {**variables.cursor, **following.session}
            return self.plan(query, following.page, replace(variables, cursor=cursor))
        context = build_context(self.spec, query, following.page, variables)
        own = self.request.build(context, self._mirror(variables))
        if not same_site(following.request.url, own.url, self.spec.fetch.same_site):
            return None
        return _dressed(following.request, self.request, context)

    def _check(self, page: int, variables: Variables) -> None:
        last = self.max_page
        if page < 1 or (last is not None and page > last):
            reach = f"1 to {last}" if last else "1 or more"
            raise InvalidInputError(f'engine "{self.spec.id}": page must be {reach}, not {page}')
        follows = self.spec.paging is not None and self.spec.paging.by in ("link", "form", "token")
        if page > 1 and follows and not variables.cursor:
            raise InvalidInputError(
                f'engine "{self.spec.id}" reaches page {page} only from the page before it'
            )

    def _mirror(self, variables: Variables) -> int:
        return variables.mirror if self.request.mirrors else 0


def _dressed(
    following: HttpRequest, own: CompiledRequest, context: dict[str, object]
) -> HttpRequest:
    """Give a followed request the spec's own headers and cookies; its own headers win."""
    taken = {name.lower() for name, _ in following.headers}
    taken |= {"content-type"}
    kept = tuple(pair for pair in own.headers_for(context) if pair[0].lower() not in taken)
    return replace(
        following,
        headers=kept + following.headers,
        cookies=own.cookies_for(context),
        repeatable=own.repeatable,
    )


def compile_planner(spec: Spec, faults: list[Fault]) -> Planner:
    """Compile an engine's requests; what is wrong with them is added to `faults`."""
    steps, requests = [], []
    for index, step in enumerate(spec.session):
        request = compile_request(
            step.request, scope_of(spec, step), ("session", index, "request"), faults
        )
        requests.append(request)
        steps.append(
            Step(
                id=step.id,
                ttl=DEFAULT_TTL if step.ttl is None else step.ttl,
                scope=step.scope,
                per_page=bool(request.names & PER_PAGE),
            )
        )
    search = compile_request(
        spec.request, scope_of(spec), ("request",), faults, _domain_lists(spec)
    )
    return Planner(spec, search, tuple(steps), tuple(requests))


def _domain_lists(spec: Spec) -> tuple[tuple[str, str, str], ...]:
    given = {"include_domains": spec.inputs.domains, "exclude_domains": spec.inputs.exclude_domains}
    return tuple(
        (domains.param, variable, "," if domains.join is None else domains.join)
        for variable, domains in given.items()
        if domains is not None and domains.param is not None
    )
