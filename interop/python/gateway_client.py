"""A client of a gateway in front of the servers everything, filesystem, memory, time and playwright, written with
Python's mcp: `gateway_client.py [--era auto|legacy|modern] [--key KEY] --name NAME --folder FOLDER --page URL
(--url URL | -- COMMAND…)`.

Uses a tool of each server and all that everything offers, closes, and prints what it saw as one line of JSON.
"""

import argparse
import json
import os
import sys
import warnings

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning

MODES = {"auto": "auto", "legacy": "legacy", "modern": "2026-07-28"}
SLOW = "everything__trigger-long-running-operation"


class User:
    """The user, who answers every question with their name, and what came without being the answer to anything."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.updated: list[str] = []
        self.has_update = anyio.Event()

    async def fill_in(self, _: object, __: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": self.name})

    async def sample(self, _: object, __: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        content = types.TextContent(text=f"{self.name} says hello")
        return types.CreateMessageResult(role="assistant", model="a-model", content=content)

    async def hear(self, message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            self.updated.append(str(message.params.uri))
            self.has_update.set()


async def use(client: Client, user: User, arguments: argparse.Namespace) -> dict:
    async def call(name: str, given: dict, **options: object) -> str:
        result = await client.call_tool(name, given, **options)
        return "\n".join(getattr(content, "text", content.type) for content in result.content)

    tools = (await client.list_tools()).tools
    resources = (await client.list_resources()).resources
    prompts = (await client.list_prompts()).prompts

    total = await call("everything__get-sum", {"a": 19, "b": 23})
    path = f"{arguments.folder}/{user.name}.txt"
    written = await call("filesystem__write_file", {"path": path, "content": f"by {user.name}"})
    entity = {"name": user.name, "entityType": "client", "observations": ["asks"]}
    await call("memory__create_entities", {"entities": [entity]})
    graph = await call("memory__read_graph", {})
    zones = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kolkata"}
    converted = await call("time__convert_time", zones)
    page = await call("playwright__browser_navigate", {"url": arguments.page})
    document = (await client.read_resource("demo://resource/static/document/features.md")).contents[0]
    prompt = (await client.get_prompt("everything__args-prompt", {"city": "Oslo"})).messages[0]
    unknown = None
    try:
        await client.call_tool("everything__nothing", {})
    except MCPError as error:
        unknown = error.code

    progress = []

    async def note(done: float, *_: object) -> None:
        progress.append(done)

    await call(SLOW, {"duration": 1, "steps": 4}, progress_callback=note)
    elicited = await call("everything__trigger-elicitation-request", {})
    sampled = await call("everything__trigger-sampling-request", {"prompt": "Say hello."})

    # Gone away from at its first progress.
    with anyio.CancelScope() as gone:

        async def leave(*_: object) -> None:
            gone.cancel()

        await call(SLOW, {"duration": 600, "steps": 2000}, progress_callback=leave)
    again = await call("everything__echo", {"message": "still here"})

    # The server announces changes of what somebody subscribed to every few seconds.
    uri = str(resources[0].uri)
    if client.protocol_version == MODES["modern"]:
        async with client.listen(resource_subscriptions=[uri]) as subscription:
            await call("everything__toggle-subscriber-updates", {})
            event = await anext(aiter(subscription))
            updated = str(event.uri) == uri
    else:
        # It warns of what the newest revision no longer has.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await client.subscribe_resource(uri)
        await call("everything__toggle-subscriber-updates", {})
        await user.has_update.wait()
        updated = user.updated[0] == uri
    await call("everything__toggle-subscriber-updates", {})

    return {
        "protocolVersion": client.protocol_version,
        "servers": sorted({tool.name.split("__")[0] for tool in tools}),
        "prompts": [each.name for each in prompts],
        "sum": total,
        "written": written,
        "graph": graph,
        "converted": converted,
        "page": page,
        "document": document.text.split("\n")[0],
        "prompt": prompt.content.text,
        "unknown": unknown,
        "progress": progress,
        "elicited": elicited,
        "sampled": sampled,
        "cancelled": gone.cancelled_caught,
        "again": again,
        "updated": updated,
    }


async def run(arguments: argparse.Namespace, command: list[str]) -> dict:
    user = User(arguments.name)
    server: object = arguments.url
    if command:
        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    elif arguments.key:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {arguments.key}"}, timeout=60)
        server = streamable_http_client(arguments.url, http_client=http)
    client = Client(
        server,
        mode=MODES[arguments.era],
        read_timeout_seconds=60,
        elicitation_callback=user.fill_in,
        sampling_callback=user.sample,
        message_handler=user.hear,
    )
    async with client:
        return await use(client, user, arguments)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=MODES, default="auto")
    for option in ("--key", "--name", "--folder", "--page", "--url"):
        parser.add_argument(option)
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:split])
    print(json.dumps(anyio.run(run, arguments, words[split + 1 :])))


main()
