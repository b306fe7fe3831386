import type { ToolOutput } from '../../model/call.ts';
import { failedOutput } from './builtin-tool.ts';

/** How the tools about tools are told which one is meant. */
export const toolNameField = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  description: 'The name of the tool, as search_tools gives it, for example "github:create_issue"',
};

/** The one answer for a tool that does not exist and for one the caller may not use. */
export function noSuchTool(name: string, suggested: readonly string[]): ToolOutput {
  const meant = suggested.length === 0 ? '' : ` Perhaps you mean ${suggested.join(', ')}.`;
  return failedOutput(`There is no tool named ${JSON.stringify(name)}.${meant} Use search_tools to find the right name.`, {
    code: 'NOT_FOUND',
    origin: 'caller',
  });
}
