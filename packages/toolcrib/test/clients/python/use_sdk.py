"""The official Python SDK with its OAuth provider. Prints where to log in, reads where the browser came back to, and calls a tool for each
further line that it reads."""
import asyncio, json, sys
from urllib.parse import parse_qs, urlsplit
import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

given = json.loads(sys.stdin.readline())


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def say(**what):
    print(json.dumps(what), flush=True)


async def read() -> str:
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


async def open_browser(url: str) -> None:
    say(open=url)


async def come_back() -> AuthorizationCodeResult:
    query = parse_qs(urlsplit(await read()).query)
    return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query.get("iss", [None])[0])


async def main():
    memory = Memory()
    if given.get("client_id"):
        memory.client = OAuthClientInformationFull(
            client_id=given["client_id"], redirect_uris=[given["redirect_uri"]], token_endpoint_auth_method="none"
        )
    metadata = OAuthClientMetadata(client_name="A Python client", redirect_uris=[given["redirect_uri"]])
    provider = OAuthClientProvider(given["url"], metadata, memory, open_browser, come_back)
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
        async with Client(streamable_http_client(given["url"], http_client=http), mode=given["mode"]) as client:
            say(tools=[tool.name for tool in (await client.list_tools()).tools])
            while await read() == "call":
                answer = await client.call_tool("builtin_calculator", {"expression": "6 * 7"})
                say(called=answer.structured_content, token=memory.tokens.access_token)


asyncio.run(main())
