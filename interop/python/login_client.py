"""A client of a protected service, written with Python's mcp: `login_client.py [--era auto|legacy|modern] --url URL -- BROWSER…`.

Logs in when the server asks for it: BROWSER… is run with the address of the login page and prints the address of the
callback. Calls `whoami`, then `clear`, which needs more scopes, then `whoami` again; closes, and prints what it saw as one
line of JSON.
"""

import argparse
import json
from urllib.parse import parse_qs, urlparse

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

MODES = {"auto": "auto", "legacy": "legacy", "modern": "2026-07-28"}

# Nobody listens there: the browser prints where it was sent.
REDIRECT = "http://127.0.0.1:7/callback"


class Memory:
    """Keeps tokens and the registered client while the program runs."""

    tokens = None
    client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


class User:
    """One user, whose browser is a program."""

    def __init__(self, browser: list[str]) -> None:
        self.browser = browser
        self.logins = 0
        self.callback = ""

    async def visit(self, url: str) -> None:
        self.logins += 1
        visited = await anyio.run_process([*self.browser, url])
        self.callback = visited.stdout.decode().strip()

    async def returned(self) -> AuthorizationCodeResult:
        query = parse_qs(urlparse(self.callback).query)
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])


async def run(era: str, url: str, browser: list[str]) -> dict:
    user = User(browser)
    metadata = OAuthClientMetadata(
        client_name="Python SDK", redirect_uris=[REDIRECT], token_endpoint_auth_method="none"
    )
    auth = OAuthClientProvider(url, metadata, Memory(), user.visit, user.returned)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=MODES[era], read_timeout_seconds=30) as client,
    ):

        async def call(tool: str) -> str:
            return (await client.call_tool(tool, {})).content[0].text

        first = await call("whoami")
        cleared = await call("clear")
        last = await call("whoami")
        return {
            "protocolVersion": client.protocol_version,
            "first": first,
            "cleared": cleared,
            "last": last,
            "logins": user.logins,
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=MODES, default="auto")
    parser.add_argument("--url", required=True)
    parser.add_argument("browser", nargs="+")
    print(json.dumps(anyio.run(lambda: run(**vars(parser.parse_args())))))


main()
