"""A client of the assistant, written with Python's mcp:
`assistant_client.py [--era auto|legacy|modern] (--url URL | -- COMMAND…)`.

Uses all that the assistant offers, closes, and prints what it saw as one line of JSON.
"""

import argparse
import json
import os
import sys
import warnings

import anyio
import jsonschema
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.shared.exceptions import MCPDeprecationWarning

MODES = {"auto": "auto", "legacy": "legacy", "modern": "2026-07-28"}
STATUS = "status://system"


class Seen:
    """What came without being the answer to anything."""

    def __init__(self) -> None:
        self.asked: list = []
        self.errors: list[str] = []
        self.heard = 0

    async def agree(self, _: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        """The user, who agrees to everything but JavaScript."""
        self.asked.append({"message": params.message, "fields": params.requested_schema["properties"]})
        if "JavaScript" in params.message:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"ok": True, "reason": "it is a test"})

    async def hear(self, message: object) -> None:
        if isinstance(message, Exception):
            self.errors.append(str(message))
        if isinstance(message, types.ProgressNotification):
            self.heard += 1


async def failure(request) -> int | None:
    """What a failed request failed with."""
    try:
        await request
    except MCPError as error:
        return error.code
    return None


def text(result: types.CallToolResult) -> list[str]:
    return [content.text for content in result.content]


async def use(client: Client, seen: Seen) -> dict:
    async def read(uri: str) -> list:
        contents = (await client.read_resource(uri)).contents
        return [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]

    async def prompt(name: str, arguments: dict[str, str]) -> list:
        messages = (await client.get_prompt(name, arguments)).messages
        return [[message.role, message.content.text] for message in messages]

    tools = (await client.list_tools()).tools
    for tool in tools:
        for schema in filter(None, (tool.input_schema, tool.output_schema)):
            jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator).check_schema(schema)

    sentiment = await client.call_tool("analyze_sentiment", {"text": "I love this new feature!"})
    summary = await client.call_tool("summarize_text", {"text": "One. Two. Three.", "sentences": 2})
    search = await client.call_tool("search_knowledge", {"query": "rust"})
    wrong = await client.call_tool("search_knowledge", {"query": "rust", "limit": 1000})
    unknown = await failure(client.call_tool("no_such_tool", {}))
    executed = await client.call_tool("execute_code", {"language": "python", "code": "print(1)"})
    refused = await client.call_tool("execute_code", {"language": "javascript", "code": "1"})
    progress = []

    async def note(done: float, _: float | None, message: str | None) -> None:
        progress.append([done, message])

    batch = await client.call_tool("process_batch", {"items": ["a", "b", "c"]}, progress_callback=note)
    broken = await client.call_tool("process_batch", {"items": ["a", "fail"], "format": "text"})

    # Gone away from in the middle. What was under way is let pass; after that the server must be quiet about it.
    begun = 0

    with anyio.CancelScope() as gone:

        async def leave(*_: object) -> None:
            nonlocal begun
            begun += 1
            if begun == 3:
                gone.cancel()

        await client.call_tool("rebuild_index", {"steps": 100}, progress_callback=leave)
    await anyio.sleep(0.2)
    before = seen.heard
    await anyio.sleep(0.2)
    late = seen.heard - before
    rebuilt = await client.call_tool("rebuild_index", {"steps": 2})

    resources = (await client.list_resources()).resources
    templates = (await client.list_resource_templates()).resource_templates
    documents = await read("doc://list")
    rust = await read("doc://rust")
    history = await read("conversation://history?limit=2&nums=1")
    missing = await failure(read("doc://cobol"))
    nowhere = await failure(read("nowhere://at/all"))

    prompts = (await client.list_prompts()).prompts
    review = await prompt("code_review", {"code": "fn main() {}"})
    contextual = await prompt("contextual_prompts", {"context": "Rust", "task": "explain"})
    incomplete = await failure(prompt("code_review", {}))
    reference = types.PromptReference(name="contextual_prompts")
    completed = await client.complete(reference, {"name": "context", "value": "r"})

    status = await read(STATUS)
    if client.protocol_version == MODES["modern"]:
        async with client.listen(resource_subscriptions=[STATUS]) as subscription:
            subscribed = subscription.honored.resource_subscriptions
    else:
        # It warns of what the newest revision no longer has.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await client.subscribe_resource(STATUS)
        await client.unsubscribe_resource(STATUS)
        subscribed = [STATUS]

    return {
        "protocolVersion": client.protocol_version,
        "server": client.server_info.name if client.server_info else None,
        "instructions": client.instructions,
        "tools": [tool.name for tool in tools],
        "outputs": [tool.name for tool in tools if tool.output_schema],
        "accepted": len(tools),
        "sentiment": sentiment.structured_content,
        "summary": text(summary),
        "search": search.structured_content,
        "wrong": {"isError": wrong.is_error, "text": text(wrong)},
        "unknown": unknown,
        "asked": seen.asked,
        "executed": executed.structured_content,
        "refused": {"isError": refused.is_error, "text": text(refused)},
        "batch": {"data": batch.structured_content, "text": text(batch)},
        "progress": progress,
        "broken": {"isError": broken.is_error, "text": text(broken)},
        "cancelled": gone.cancelled_caught,
        "late": late,
        "rebuilt": rebuilt.structured_content,
        "resources": [resource.uri for resource in resources],
        "templates": [template.uri_template for template in templates],
        "documents": documents,
        "rust": rust,
        "history": history,
        "missing": missing,
        "nowhere": nowhere,
        "prompts": [[each.name, *(argument.name for argument in each.arguments)] for each in prompts],
        "review": review,
        "contextual": contextual,
        "incomplete": incomplete,
        "completed": completed.completion.values,
        "status": status,
        "subscribed": subscribed,
        "errors": seen.errors,
    }


async def run(era: str, url: str | None, command: list[str]) -> dict:
    # All of our environment, so that whoever started us finds the server too.
    server = url or StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    seen = Seen()
    client = Client(
        server,
        mode=MODES[era],
        read_timeout_seconds=20,
        elicitation_callback=seen.agree,
        message_handler=seen.hear,
    )
    async with client:
        return await use(client, seen)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=MODES, default="auto")
    parser.add_argument("--url")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:split])
    print(json.dumps(anyio.run(run, arguments.era, arguments.url, words[split + 1 :])))


main()
