"""One agent for all users: a function gives the headers for the user of each run. The model is a script that calls one tool."""
import asyncio, json, sys
from pydantic_ai import Agent, RunContext
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

given = json.load(sys.stdin)
offered: dict[str, int] = {}


def headers(context: RunContext[dict]) -> dict[str, str]:
    return {"Authorization": f"Bearer {context.deps['token']}"}


def answers_in(messages: list[ModelMessage]) -> list[str]:
    parts = (part for message in messages for part in message.parts)
    return [json.dumps(part.content) for part in parts if isinstance(part, ToolReturnPart)]


def agent_for(user: dict) -> Agent:
    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered[user["tool"]] = len(info.function_tools)
        if answers_in(messages):
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart(user["tool"], user["arguments"]) for _ in range(given["times"])])

    return Agent(FunctionModel(model), deps_type=dict, toolsets=[toolset])


toolset = MCPToolset(given["url"], headers=headers)


async def use(user: dict) -> dict:
    result = await agent_for(user).run("Use the tool.", deps=user)
    return {"tools": offered[user["tool"]], "answers": answers_in(result.all_messages())}


async def main():
    print(json.dumps(await asyncio.gather(*map(use, given["users"]))))


asyncio.run(main())
