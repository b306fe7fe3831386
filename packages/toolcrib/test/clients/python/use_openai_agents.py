"""A server object for every user, with nothing but a map of headers."""
import asyncio, json, sys
from agents.mcp import MCPServerStreamableHttp

given = json.load(sys.stdin)


async def use(user: dict) -> dict:
    params = {"url": given["url"], "headers": {"Authorization": f"Bearer {user['token']}"}, "timeout": 60}
    async with MCPServerStreamableHttp(params, client_session_timeout_seconds=60) as server:
        tools = await server.list_tools()
        answers = await asyncio.gather(*(server.call_tool(user["tool"], user["arguments"]) for _ in range(given["times"])))
        return {"tools": len(tools), "answers": [answer.model_dump_json() for answer in answers]}


async def main():
    print(json.dumps(await asyncio.gather(*map(use, given["users"]))))


asyncio.run(main())
