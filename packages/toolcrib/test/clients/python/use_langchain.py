"""One client for all users: an interceptor gives every call the token of the user it is for."""
import asyncio, json, sys
from langchain_mcp_adapters.client import MultiServerMCPClient

given = json.load(sys.stdin)


async def use(user: dict) -> dict:
    async def as_user(request, handler):
        return await handler(request.override(headers={"Authorization": f"Bearer {user['token']}"}))

    # Listing has no interceptors: its headers are those of the connection.
    connection = {"transport": "http", "url": given["url"], "headers": {"Authorization": f"Bearer {user['token']}"}}
    client = MultiServerMCPClient({"door": connection}, tool_interceptors=[as_user])
    tools = {tool.name: tool for tool in await client.get_tools()}
    answers = await asyncio.gather(*(tools[user["tool"]].ainvoke(user["arguments"]) for _ in range(given["times"])))
    return {"tools": len(tools), "answers": [json.dumps(answer) for answer in answers]}


async def main():
    print(json.dumps(await asyncio.gather(*map(use, given["users"]))))


asyncio.run(main())
