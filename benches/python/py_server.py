"""A server written with Python's mcp: `py_server.py --stdio | --http [--tools N]`.

`--form` and `--threads` are understood and change nothing.
"""

import argparse
import json
import socket
import sys
import threading
from typing import Annotated

import uvicorn
from mcp.server import MCPServer
from pydantic import Field

from fixture import big, usage

server = MCPServer("bench", version="1.0.0", log_level="WARNING")
Text = Annotated[str, Field(min_length=1, description="What the tool works on, as it is written in the address.")]


@server.tool(name="echo", description="Says the text back.", structured_output=False)
async def echo(text: str) -> str:
    return text


@server.tool(name="big", description="Answers one text of 1 MiB.", structured_output=False)
async def answer_big() -> str:
    return big()


@server.tool(name="usage", description="Says what this process has used so far.", structured_output=False)
async def answer_usage() -> str:
    return json.dumps(usage())


async def large(
    owner: Text, repository: Text, path: Text, branch: Text, message: Text, labels: Text, page: int = 1
) -> str:
    return "listed only"


def serve_http() -> None:
    app = server.streamable_http_app()
    # Its protocol is named so that asyncio sends small answers at once.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        print(f"listening http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        serving = uvicorn.Server(config)

        def watch() -> None:
            sys.stdin.read()
            serving.should_exit = True

        threading.Thread(target=watch, daemon=True).start()
        serving.run(sockets=[listening])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--form")
    parser.add_argument("--threads")
    parser.add_argument("--tools", type=int, default=3)
    args = parser.parse_args()
    for number in range(4, args.tools + 1):
        description = (
            f"Looks up entry {number} of the catalogue and answers with all that is known of it. Use it when the "
            "user names the entry by its owner and repository; ask first if either is missing. Answers nothing when "
            "there is no such entry."
        )
        server.add_tool(large, name=f"tool_{number:04}", description=description, structured_output=False)
    if args.http:
        serve_http()
    else:
        server.run("stdio")


main()
