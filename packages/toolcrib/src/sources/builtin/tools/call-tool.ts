import type { Answer, ToolOutput } from '../../../model/call.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Tool } from '../../../model/tool.ts';
import { objectArgument, textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { failedOutput } from '../builtin-tool.ts';
import { noSuchTool, toolNameField } from '../no-such-tool.ts';

export const callToolTool: BuiltinTool = {
  definition: {
    name: 'call_tool',
    title: 'Call tool',
    description:
      'Runs another tool you may use, by name, and returns its answer. Use it for tools found with search_tools that are not in your own list; ' +
      'read the input schema with describe_tool first.',
    input_schema: {
      type: 'object',
      properties: {
        name: toolNameField,
        arguments: { type: 'object', default: {}, description: "The tool's arguments, as its input schema asks for them" },
      },
      required: ['name'],
      additionalProperties: false,
    },
    // The effects are those of the called tool, so every hint has its most cautious value.
    annotations: { title: 'Call tool', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  tags: ['tools'],
  async run(args, context, { catalogue }, self) {
    const name = textArgument(args, 'name');
    if (namesItself(name, self)) return failedOutput('call_tool cannot call itself. Pass the name of the tool you want to run.');
    const inner = objectArgument(args, 'arguments');
    let answer: Answer;
    try {
      answer = await catalogue.call(name, inner, context);
    } catch (error) {
      if (!(error instanceof CribError)) throw error;
      if (error.code === 'NOT_FOUND') return noSuchTool(name, catalogue.suggest(context.principal, name));
      // The model can correct wrong arguments. Every other error concerns the call as a whole and keeps its code.
      if (error.code === 'VALIDATION_ERROR')
        return failedOutput(error.field === undefined ? error.message : `${error.field}: ${error.message}`, wrongArguments);
      throw error;
    }
    return passedOn(answer);
  },
};

const wrongArguments = { code: 'VALIDATION_ERROR', origin: 'caller' } as const;

/** Checks every name that the inventory has for call_tool [NAME-1] [NAME-3], and ignores letter case, so that no variant slips through. */
function namesItself(name: string, self: Tool): boolean {
  const asked = name.trim().toLowerCase();
  return [self.tool_id, self.name, self.name.replace(':', '.'), self.model_name, self.definition.name].some(
    (own) => own.toLowerCase() === asked,
  );
}

function passedOn(answer: Answer): ToolOutput {
  const failed = answer.is_error || !answer.success;
  const { truncated, artifacts } = answer.metadata;
  // The rest of a truncated answer is in the artifacts of the inner call.
  const cut: JsonObject = truncated === true ? { truncated, artifacts: artifacts ?? [] } : {};
  const output: ToolOutput = { content: answer.content, metadata: { called: answer.tool, call_id: answer.call_id, ...cut } };
  if (answer.structured_content !== null) output.structured_content = answer.structured_content;
  if (failed) output.is_error = true;
  if (answer.error !== null) output.failure = { code: answer.error.code, origin: answer.error.origin };
  // A call that failed before the tool answered has no content, but the model needs the reason.
  if (failed && answer.content.length === 0) {
    output.content = [{ type: 'text', text: answer.error?.message ?? `The call ended with the status ${answer.status}.` }];
  }
  return output;
}
