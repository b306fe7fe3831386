import type { ToolMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { CribTool } from '../src/crib-tool.ts';

export function toolNamed(tools: readonly CribTool[], name: string): CribTool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`There is no tool ${name} among ${tools.map((tool) => tool.name).join(', ')}`);
  return found;
}

/** Calls a tool as an agent does for its model. */
export async function callAsModel(tool: CribTool, args: object = {}, config?: RunnableConfig): Promise<ToolMessage> {
  const call = { type: 'tool_call', id: 'call-1', name: tool.name, args };
  return tool.invoke(call, config);
}
