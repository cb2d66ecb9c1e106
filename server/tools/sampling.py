"""The tools `get_sampling` and `set_sampling`: may a language model take part, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from server.tools.base import Arguments, Call, NoArguments, Output, Reply, Tool

if TYPE_CHECKING:
    from server.app import Application

__all__ = ["GET", "SET", "SamplingOutput"]


class SetSamplingArguments(Arguments):
    """On or off, for this caller."""

    enabled: bool


class SamplingOutput(Output):
    """Whether a model may take part in your calls, and whose it would be."""

    sampling: bool = False
    client_supports_sampling: bool = False
    llm_configured: bool = False
    llm_model: str | None = None
    resolution: Literal["client", "api", "none"] = "none"


async def _get(app: Application, _given: NoArguments, call: Call) -> Reply[SamplingOutput]:
    return _reply(app, call)


async def _set(app: Application, given: SetSamplingArguments, call: Call) -> Reply[SamplingOutput]:
    app.set_sampling(call.caller, given.enabled)
    return _reply(app, call)


def _reply(app: Application, call: Call) -> Reply[SamplingOutput]:
    data = SamplingOutput(
        sampling=app.sampling(call.caller),
        client_supports_sampling=call.client_llm is not None,
        llm_configured=app.llm_configured,
        llm_model=app.settings.llm_name,
        resolution=app.resolution(call.caller, client=call.client_llm is not None),
    )
    state = "on" if data.sampling else "off"
    return Reply(f"Sampling is {state}; prompts would go to: {data.resolution}", data)


GET = Tool(
    name="get_sampling",
    title="Show sampling",
    description="Tell whether a language model may take part in your calls, and which one.",
    arguments=NoArguments,
    output=SamplingOutput,
    run=_get,
    open_world=False,
)

SET = Tool(
    name="set_sampling",
    title="Switch sampling",
    description="Allow or forbid a language model in your calls (it may drop irrelevant results).",
    arguments=SetSamplingArguments,
    output=SamplingOutput,
    run=_set,
    read_only=False,
    open_world=False,
)
