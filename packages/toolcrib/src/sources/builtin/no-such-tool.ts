import type { ToolOutput } from '../../model/call.ts';
import { failedOutput } from './builtin-tool.ts';

/** The `name` argument of describe_tool and call_tool. */
export const toolNameField = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  description: 'The name of the tool, as search_tools returns it, for example "github:create_issue"',
};

/** Answers the same whether the tool does not exist or the caller may not use it. */
export function noSuchTool(name: string, suggested: readonly string[]): ToolOutput {
  const meant = suggested.length === 0 ? '' : ` Perhaps you mean ${suggested.join(', ')}.`;
  return failedOutput(`There is no tool named ${JSON.stringify(name)}.${meant} Use search_tools to find the right name.`, {
    code: 'NOT_FOUND',
    origin: 'caller',
  });
}
