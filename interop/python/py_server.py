"""A server written with Python's mcp: `py_server.py session|json|stateless PORT`.

All answer 2026-07-28 alone, request by request. What is older has a session, except in the last form. `json` answers
with documents instead of streams. In sessions, `rests` hangs up in the middle of its answer. The resource
`interop://slow` counts what became of the calls to `slow`.
"""

import json
import logging
import socket
import sys

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult, JSONRPCMessage
from pydantic import BaseModel

SLOW = "interop://slow"
MODERN = "2026-07-28"
counts = {"started": 0, "finished": 0, "cancelled": 0}
server = MCPServer("py-server", version="2.3.0")


class Name(BaseModel):
    name: str


@server.tool()
async def echo(text: str) -> str:
    return text


@server.tool()
async def slow(seconds: float, ctx: Context) -> str:
    counts["started"] += 1
    try:
        for step in range(1, 11):
            await anyio.sleep(seconds / 10)
            await ctx.report_progress(step, 10)
    except anyio.get_cancelled_exc_class():
        counts["cancelled"] += 1
        raise
    counts["finished"] += 1
    return "done"


@server.tool()
async def ask(ctx: Context) -> str | InputRequiredResult:
    if ctx.protocol_version != MODERN:
        answer = await ctx.elicit("Who?", Name)
        return f"hello {answer.data.name}"
    if ctx.input_responses:
        return f"hello {ctx.input_responses['name'].content['name']}"
    params = ElicitRequestFormParams(message="Who?", requested_schema=Name.model_json_schema())
    return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)})


@server.tool()
async def touch(ctx: Context) -> str:
    if ctx.protocol_version == MODERN:
        await ctx.notify_resource_updated(SLOW)
    else:
        await ctx.session.send_resource_updated(SLOW)
    return "touched"


@server.tool()
async def rests(ctx: Context) -> str:
    await ctx.close_sse_stream()
    await anyio.sleep(0.2)
    return "rested"


@server.resource(SLOW, mime_type="application/json")
def slow_calls() -> str:
    return json.dumps(counts, separators=(",", ":"))


class Events(EventStore):
    """What was sent, for those who come back."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self.sent.append((stream_id, message))
        return str(len(self.sent))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        print("came back", file=sys.stderr, flush=True)
        last = int(last_event_id)
        stream = self.sent[last - 1][0]
        for number, (of, message) in enumerate(self.sent[last:], last + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def main() -> None:
    logging.basicConfig(level=logging.WARNING)
    # It tells there that a client left.
    logging.getLogger("mcp.server.streamable_http").setLevel(logging.INFO)
    form, port = sys.argv[1:]
    app = server.streamable_http_app(
        stateless_http=form == "stateless",
        json_response=form == "json",
        event_store=None if form == "stateless" else Events(),
        retry_interval=50,
    )
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", int(port)))
        listening.listen()
        print("listening on port", listening.getsockname()[1], file=sys.stderr, flush=True)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])


main()
