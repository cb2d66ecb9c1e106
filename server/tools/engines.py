"""The tools `get_engines` and `set_engines`: what can be asked, and what is asked by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from framework.types import Kind, Status, Verdict
from server.tools.base import Arguments, Call, NoArguments, Output, Reply, Tool

if TYPE_CHECKING:
    from server.app import Application
    from server.engine_state import EngineState

__all__ = ["GET", "SET", "EnginesOutput"]


class SetEnginesArguments(Arguments):
    """The ids that `web_search` asks when its caller names none."""

    engines: tuple[str, ...] = Field(min_length=1, max_length=50)


class VerdictCount(BaseModel):
    """How often an engine's answers had this verdict lately."""

    verdict: Verdict
    count: int


class EngineItem(BaseModel):
    """One engine: what it finds, whether it can be asked now, and if not, why."""

    id: str
    name: str
    kind: Kind
    index: str
    status: Status
    official_api: bool
    replaced_by: SkipJsonSchema[str | None] = None
    supports: tuple[str, ...] = ()
    default: bool = False
    disabled: str | None = None
    resting_until: str | None = None
    history: tuple[VerdictCount, ...] = ()
    problems: tuple[str, ...] = ()


class EnginesOutput(Output):
    """The caller's default engines and all engines that there are."""

    default: tuple[str, ...] = ()
    engines: tuple[EngineItem, ...] = ()


class SetEnginesOutput(EnginesOutput):
    """What `get_engines` answers; its schema does not write the engines out again."""

    engines: Annotated[
        tuple[EngineItem, ...],
        WithJsonSchema({"type": "array", "items": {"type": "object"}}),
    ] = ()


async def _get(app: Application, _given: NoArguments, call: Call) -> Reply[EnginesOutput]:
    return _reply(app, call.caller)


async def _set(app: Application, given: SetEnginesArguments, call: Call) -> Reply[SetEnginesOutput]:
    app.set_default_engines(call.caller, given.engines)
    reply = _reply(app, call.caller)
    return Reply(reply.text, SetEnginesOutput.model_validate(reply.data.model_dump()))


def _reply(app: Application, caller: str) -> Reply[EnginesOutput]:
    default = app.default_engines(caller)
    items = tuple(_item(state, default) for state in app.engine_states())
    data = EnginesOutput(default=default, engines=items)
    return Reply(_render(data), data)


def _item(state: EngineState, default: tuple[str, ...]) -> EngineItem:
    return EngineItem(
        id=state.id,
        name=state.name,
        kind=state.kind,
        index=state.index,
        status=state.status,
        official_api=state.official_api,
        replaced_by=state.replaced_by,
        supports=state.supports,
        default=state.id in default,
        disabled=state.disabled,
        resting_until=state.resting_until,
        history=tuple(VerdictCount(verdict=v, count=n) for v, n in state.history),
        problems=state.problems,
    )


def _render(data: EnginesOutput) -> str:
    lines = [f"Default: {', '.join(data.default)}"]
    kinds = sorted({item.kind for item in data.engines})
    for kind in kinds:
        usable = [i.id for i in data.engines if i.kind is kind and not i.disabled]
        if usable:
            lines.append(f"{kind.value}: {', '.join(usable)}")
    lines.extend(f"- {i.id} rests until {i.resting_until}" for i in data.engines if i.resting_until)
    disabled = [i for i in data.engines if i.disabled]
    if disabled:
        lines.append("Disabled: " + "; ".join(f"{i.id} ({i.disabled})" for i in disabled))
    lines.extend(
        f"- {i.id} is deprecated; use {i.replaced_by}" for i in data.engines if i.replaced_by
    )
    lines.extend(f"- {i.id}: {p}" for i in data.engines for p in i.problems[:1])
    return "\n".join(lines)


GET = Tool(
    name="get_engines",
    title="List engines",
    description=(
        "List all search engines with kind, index lineage, what they support and whether they "
        "rest or lack a key, and your default ones. Use it before naming engines."
    ),
    arguments=NoArguments,
    output=EnginesOutput,
    run=_get,
    open_world=False,
)

SET = Tool(
    name="set_engines",
    title="Set default engines",
    description="Choose the engines that your searches ask when they name none; kept for you.",
    arguments=SetEnginesArguments,
    output=SetEnginesOutput,
    run=_set,
    read_only=False,
    open_world=False,
)
