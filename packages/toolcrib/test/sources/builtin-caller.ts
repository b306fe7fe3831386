import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Answer, ToolOutput } from '../../src/model/call.ts';
import { CribError } from '../../src/model/crib-error.ts';
import { EndSwitch } from '../../src/model/end-signal.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Principal } from '../../src/model/principal.ts';
import type { Tool } from '../../src/model/tool.ts';
import { createBuiltinCalls, type BuiltinCallsInput } from '../../src/sources/builtin/builtin-calls.ts';
import { builtinTools } from '../../src/sources/builtin/builtin-tools.ts';
import type { ToolCatalogue } from '../../src/sources/source-ports.ts';
import type { CallContext } from '../../src/sources/source.ts';

/** A caller of the built-in source who, like execution, validates arguments before a call and structured content after it. */

export const ajv = new Ajv2020({ strict: true, allErrors: true });
const checks = new Map(
  builtinTools.map(({ definition }) => [
    definition.name,
    { input: ajv.compile(definition.input_schema), output: definition.output_schema && ajv.compile(definition.output_schema) },
  ]),
);

export const alice: Principal = {
  issuer: 'https://issuer.example',
  subject: 'alice',
  key: 'https://issuer.example alice',
  name: null,
  client: null,
  claims: {},
  expiresAt: Number.MAX_SAFE_INTEGER,
  token: null,
};

export function toolNamed(name: string): Tool {
  const builtin = builtinTools.find(({ definition }) => definition.name === name);
  if (!builtin) throw new Error(`no tool ${name}`);
  return {
    tool_id: `id-of-${name}`,
    name: `builtin:${name}`,
    model_name: `builtin_${name}`,
    source_id: 'builtin',
    source_name: 'Built-in',
    namespace: 'builtin',
    definition: builtin.definition,
    title: null,
    description: builtin.definition.description,
    tags: builtin.tags,
    labels: {},
    method: null,
    path: null,
    version: null,
    execution_mode: 'builtin',
    durable: false,
    operation: null,
    workflow: null,
    plan: null,
    definition_hash: '',
    approved_hash: '',
    state: 'active',
    limits: {},
    source_limits: {},
    timeout_ms: null,
    retries: null,
    fingerprint: '',
  };
}

export function contextOf(parts: Partial<CallContext> = {}): CallContext {
  return {
    callId: 'call-1',
    principal: alice,
    signal: new EndSwitch(),
    progress() {},
    log() {},
    elicit: async () => ({ action: 'decline' }),
    ...parts,
  };
}

const noteTool = { name: 'notes:add', model_name: 'notes_add', summary: 'Adds a note.', parameters: ['text'] };

/** A catalogue of one tool, `notes:add`, which only alice may use. */
export const smallCatalogue: ToolCatalogue = {
  search: (principal, query, limit) =>
    principal === alice && query !== 'nothing'
      ? [{ ...noteTool, title: null, description: 'Adds a note. It is kept for ever.' }].slice(0, limit)
      : [],
  describe: (principal, name) => (principal === alice && name === 'notes:add' ? { name, input_schema: { type: 'object' } } : undefined),
  suggest: (principal, name) => (principal === alice && name.startsWith('note') ? ['notes:add'] : []),
  call(name, args, context) {
    if (context.principal !== alice || name !== 'notes:add') return Promise.reject(new CribError('NOT_FOUND', 'No such tool'));
    if (args.text === undefined) return Promise.reject(new CribError('VALIDATION_ERROR', 'is required', { field: 'arguments.text' }));
    return Promise.resolve(answerOf({ content: [{ type: 'text', text: 'added' }], structured_content: { text: args.text } }));
  },
};

export function answerOf(parts: Partial<Answer>): Answer {
  return {
    call_id: 'inner-1',
    tool_id: 'id-of-add',
    tool: 'notes:add',
    success: true,
    status: 'completed',
    is_error: false,
    content: [],
    structured_content: null,
    result: null,
    text: '',
    error: null,
    execution_time_ms: 1,
    metadata: {},
    ...parts,
  };
}

export function openBuiltins(options: Partial<BuiltinCallsInput> = {}) {
  const source = createBuiltinCalls({ catalogue: smallCatalogue, ...options });
  const invoke = (name: string, args: JsonObject, context: CallContext): ToolOutput | Promise<ToolOutput> => {
    const { input, output } = checks.get(name)!;
    if (!input(args)) throw new Error(`arguments of ${name}: ${ajv.errorsText(input.errors)}`);
    const checked = (answer: ToolOutput): ToolOutput => {
      if (output && !answer.is_error && !output(answer.structured_content)) {
        throw new Error(`answer of ${name}: ${ajv.errorsText(output.errors)}`);
      }
      if ((answer.structured_content !== undefined || answer.is_error) && textOf(answer) === '') throw new Error(`${name} has no text`);
      return answer;
    };
    const answer = source.call(toolNamed(name), args, context);
    return answer instanceof Promise ? answer.then(checked) : checked(answer);
  };
  return {
    async call(name: string, args: JsonObject, context: CallContext = contextOf()): Promise<ToolOutput> {
      return await invoke(name, args, context);
    },
    /** For the cheap tools: their answer must be there at once. */
    callNow(name: string, args: JsonObject): ToolOutput {
      const answer = invoke(name, args, contextOf());
      if (answer instanceof Promise) throw new Error(`${name} answered with a promise`);
      return answer;
    },

    close: () => source.close(),
    [Symbol.asyncDispose]: () => source.close(),
  };
}

export function textOf(output: ToolOutput): string {
  return output.content.map((block) => block.text ?? '').join('\n');
}

export function structuredOf(output: ToolOutput): Json {
  if (output.is_error) throw new Error(`the call failed: ${textOf(output)}`);
  return output.structured_content ?? null;
}

/** The text of a failure; the answer must be one. */
export function failureOf(output: ToolOutput): string {
  if (!output.is_error || output.structured_content !== undefined) throw new Error(`the call did not fail: ${textOf(output)}`);
  return textOf(output);
}

/** The reason of a rejected promise, for a test that does something else before it looks. */
export function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'it was not rejected',
    (reason: unknown) => reason,
  );
}
