"""FastMCP as a proxy in front of one server, with a session that is kept: the faster of its forms.

fastmcp_proxy.py (--stdio | --http PORT) (--upstream URL | -- COMMAND ARGS…)
"""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


async def main(words):
    command = []
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    upstream = words[words.index("--upstream") + 1] if "--upstream" in words else None
    target = upstream or StdioTransport(command=command[0], args=command[1:])
    async with Client(target) as client:
        proxy = create_proxy(client, name="bench")
        if "--stdio" in words:
            await proxy.run_async(transport="stdio", show_banner=False, log_level="error")
            return
        port = int(words[words.index("--http") + 1])
        await proxy.run_async(
            transport="http",
            host="127.0.0.1",
            port=port,
            path="/mcp",
            show_banner=False,
            log_level="error",
            uvicorn_config={"access_log": False},
        )


asyncio.run(main(sys.argv[1:]))
