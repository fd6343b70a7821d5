"""A client written with Python's mcp: `py_client.py [--era auto|legacy|modern] [--nonce TEXT] --url URL`.

Lists the tools, calls `echo` with a nonce, `slow` with progress and a tool that is not there, closes, and prints what
it saw as one line of JSON.
"""

import argparse
import json

import anyio
from mcp import Client, MCPError

MODES = {"auto": "auto", "legacy": "legacy", "modern": "2026-07-28"}


async def ignore(*_: object) -> None:
    """Is asked for so that progress is reported."""


async def run(era: str, nonce: str, url: str) -> dict:
    progress = 0

    async def count(*_: object) -> None:
        nonlocal progress
        progress += 1

    async with Client(url, mode=MODES[era], read_timeout_seconds=20) as client:
        tools = await client.list_tools()
        echo = await client.call_tool("echo", {"text": nonce})
        slow = await client.call_tool("slow", {"seconds": 0.5}, progress_callback=count)
        try:
            await client.call_tool("no-such-tool", {})
            unknown = None
        except MCPError as error:
            unknown = error.code
        # Gone away from in the middle, with a stream and without: the connection must go on.
        cancelled = []
        for told in (ignore, None):
            with anyio.move_on_after(0.35) as gone:
                await client.call_tool("slow", {"seconds": 1}, progress_callback=told)
            cancelled.append(gone.cancelled_caught)
        again = await client.call_tool("echo", {"text": "still here"})
        return {
            "protocolVersion": client.protocol_version,
            "server": client.server_info.model_dump() if client.server_info else None,
            "tools": [tool.name for tool in tools.tools],
            "nonce": nonce,
            "echoed": echo.content[0].text,
            "slow": slow.content[0].text,
            "progress": progress,
            "unknown": unknown,
            "cancelled": all(cancelled),
            "again": again.content[0].text,
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=MODES, default="auto")
    parser.add_argument("--nonce", default="nonce")
    parser.add_argument("--url", required=True)
    print(json.dumps(anyio.run(lambda: run(**vars(parser.parse_args())))))


main()
