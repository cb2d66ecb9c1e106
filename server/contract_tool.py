"""One tool of the contract as the SDK's tool: our argument errors, error envelope and counting."""

from __future__ import annotations

import base64
import logging
import time
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context  # noqa: TC002 - the SDK reads it at run time
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolResult,
    ImageContent,
    InputRequiredResult,
    TextContent,
    ToolAnnotations,
)

from framework.errors import ConsilienceError
from server.callers import caller_of
from server.progress import Progress
from server.rounds import Run
from server.sampling import ClientLLM, InputNeeded, can_sample, has_rounds, run_of
from server.schemas import input_schema, output_schema
from server.tools.base import Call, ErrorInfo, Reply, Tool, failure, parse

if TYPE_CHECKING:
    from server.app import Application

__all__ = ["ContractTool", "publish"]

log = logging.getLogger(__name__)

_INTERNAL = ErrorInfo(
    code="internal_error",
    message="something went wrong inside; the same call may work again, and the log says more",
    retryable=True,
)


class ContractTool(SdkTool):
    """Runs the contract's function where the SDK would run a Python function."""

    contract: Any
    application: Any

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult | InputRequiredResult:
        """Answer one call; only protocol errors are raised."""
        app: Application = self.application
        start = time.monotonic()
        outcome = "cancelled"
        app.metrics.started()
        try:
            result, outcome = await self._answer(arguments, context)
            return result
        finally:
            app.metrics.ended(self.contract.name, outcome, time.monotonic() - start)

    async def _answer(
        self, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> tuple[CallToolResult | InputRequiredResult, str]:
        contract: Tool[Any, Any] = self.contract
        try:
            reply = await self._reply(self.fn_metadata.pre_parse_json(arguments), context)
        except MCPError:
            raise
        except InputNeeded as asked:
            return asked.result, "input_required"
        except ConsilienceError as error:
            return _failed(failure(error), contract), error.code
        except Exception:
            log.exception("tool %s failed", contract.name)
            return _failed(_INTERNAL, contract), _INTERNAL.code
        return _done(reply), "ok"

    async def _reply(self, arguments: dict[str, Any], context: Context[Any, Any]) -> Reply[Any]:
        given = parse(self.contract, arguments)
        progress = Progress(context.report_progress)
        rounds = can_sample(context) and has_rounds(context)
        run = Run(self.application.rounds, run_of(context)) if rounds else None
        call = Call(
            caller=caller_of(context.request_context),
            progress=progress.report,
            note=progress.note,
            client_llm=ClientLLM(context, run.id if run else None) if can_sample(context) else None,
            **({"once": run.once} if run else {}),
        )
        async with progress.sending():
            reply: Reply[Any] = await self.contract.run(self.application, given, call)
        if run:
            run.end()
        return reply


def _done(reply: Reply[Any]) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=reply.text), *map(_image, reply.images)],
        structured_content=reply.data.model_dump(mode="json", exclude_none=True),
    )


def _image(jpeg: bytes) -> ImageContent:
    data = base64.b64encode(jpeg).decode()
    return ImageContent(type="image", data=data, mime_type="image/jpeg")


def _failed(error: ErrorInfo, contract: Tool[Any, Any]) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=f"{error.code}: {error.message}")],
        structured_content=contract.output(error=error).model_dump(mode="json", exclude_none=True),
        is_error=True,
    )


def publish(
    contract: Tool[Any, Any], application: Application, schema: dict[str, Any] | None = None
) -> ContractTool:
    """Make the SDK's tool for a contract; `schema` replaces that of its arguments."""

    async def stand_in() -> None: ...

    base = SdkTool.from_function(
        stand_in,
        name=contract.name,
        title=contract.title,
        description=contract.description,
        annotations=ToolAnnotations(
            read_only_hint=contract.read_only, open_world_hint=contract.open_world
        ),
    )
    base.fn_metadata.arg_model = contract.arguments
    base.fn_metadata.output_model = contract.output
    base.fn_metadata.output_schema = output_schema(contract.output)
    return ContractTool(
        **{name: getattr(base, name) for name in SdkTool.model_fields},
        contract=contract,
        application=application,
    ).model_copy(update={"parameters": schema or input_schema(contract.arguments)})
