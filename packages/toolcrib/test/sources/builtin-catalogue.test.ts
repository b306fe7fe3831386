import { expect, test } from 'vitest';
import { CribError } from '../../src/model/crib-error.ts';
import { alice, answerOf, contextOf, failureOf, openBuiltins, smallCatalogue, structuredOf, textOf, toolNamed } from './builtin-caller.ts';

const bob = { ...alice, subject: 'bob', key: 'https://issuer.example bob' };

test('[BI-2] search_tools searches as the caller and returns the tools found', async () => {
  await using builtins = openBuiltins();
  const output = await builtins.call('search_tools', { query: 'note' });
  expect(structuredOf(output)).toEqual({
    tools: [
      { name: 'notes:add', model_name: 'notes_add', title: null, description: 'Adds a note. It is kept for ever.', parameters: ['text'] },
    ],
  });
  expect(textOf(output)).toBe('notes:add: Adds a note. It is kept for ever.');
});

test('[BI-2] search_tools gives one line per tool on request', async () => {
  await using builtins = openBuiltins();
  const output = await builtins.call('search_tools', { query: 'note', view: 'compact' });
  expect(structuredOf(output)).toEqual({
    tools: [{ name: 'notes:add', model_name: 'notes_add', description: 'Adds a note.', parameters: ['text'] }],
  });
  expect(textOf(output)).toBe('notes:add: Adds a note.');
});

test('[BI-2] search_tools says so when it finds nothing', async () => {
  await using builtins = openBuiltins();
  for (const output of [
    await builtins.call('search_tools', { query: 'nothing' }),
    await builtins.call('search_tools', { query: 'note' }, contextOf({ principal: bob })),
  ]) {
    expect(structuredOf(output)).toEqual({ tools: [] });
    expect(textOf(output)).toBe('No tool fits. Try other or fewer words.');
  }
});

test('[BI-2] describe_tool shows the tool, as a copy', async () => {
  const held = { name: 'notes:add', input_schema: { type: 'object' } };
  await using builtins = openBuiltins({ catalogue: { ...smallCatalogue, describe: () => held } });
  const output = await builtins.call('describe_tool', { name: 'notes:add' });
  expect(structuredOf(output)).toEqual(held);
  expect(output.structured_content).not.toBe(held);
  expect(JSON.parse(textOf(output))).toEqual(held);
});

test('[BI-2] call_tool passes content, structured content and arguments through', async () => {
  await using builtins = openBuiltins();
  const output = await builtins.call('call_tool', { name: 'notes:add', arguments: { text: 'milk' } });
  expect(output).toEqual({
    content: [{ type: 'text', text: 'added' }],
    structured_content: { text: 'milk' },
    metadata: { called: 'notes:add', call_id: 'inner-1' },
  });
});

test('[BI-2] an unknown tool and a forbidden one give the same answer', async () => {
  await using builtins = openBuiltins();
  const asBob = contextOf({ principal: bob });
  for (const name of ['describe_tool', 'call_tool']) {
    const args = { name: 'notes:add', ...(name === 'call_tool' && { arguments: { text: 'x' } }) };
    const forbidden = failureOf(await builtins.call(name, args, asBob));
    const unknown = failureOf(await builtins.call(name, { ...args, name: 'notes:none' }, asBob));
    expect(forbidden.replace('notes:add', 'notes:none')).toBe(unknown);
    expect(unknown).toBe('There is no tool named "notes:none". Use search_tools to find the right name.');
  }
});

test('[BI-2] the inner call runs as the caller, with the same signal, progress and log', async () => {
  const context = contextOf({ principal: bob });
  const seen: unknown[] = [];
  await using builtins = openBuiltins({
    catalogue: {
      ...smallCatalogue,
      call(name, args, inner) {
        seen.push(name, args, inner);
        return Promise.resolve(answerOf({}));
      },
    },
  });
  await builtins.call('call_tool', { name: 'notes:add' }, context);
  expect(seen).toEqual(['notes:add', {}, context]);
  expect(seen[2]).toBe(context);
});

test('[BI-2] call_tool does not call itself, by any of its names', async () => {
  await using builtins = openBuiltins({
    catalogue: { ...smallCatalogue, call: () => Promise.reject(new Error('must not be called')) },
  });
  const own = toolNamed('call_tool');
  for (const name of ['builtin:call_tool', 'builtin.call_tool', own.tool_id, own.model_name, 'call_tool', ' Builtin:Call_Tool ']) {
    const text = failureOf(await builtins.call('call_tool', { name, arguments: { name, arguments: {} } }));
    expect(text).toContain('call_tool cannot call itself');
  }
});

test.each([
  [
    'a tool that failed',
    answerOf({ success: false, is_error: true, status: 'failed', content: [{ type: 'text', text: 'no disk' }] }),
    'no disk',
  ],
  [
    'a call that was not made',
    answerOf({
      success: false,
      status: 'timed_out',
      error: { code: 'NETWORK_ERROR', message: 'Timed out', origin: 'source', retryable: true },
    }),
    'Timed out',
  ],
  ['a call without an error', answerOf({ success: false, status: 'unknown' }), 'The call ended with the status unknown.'],
])('[BI-2] call_tool passes on the failure of %s', async (_, answer, text) => {
  await using builtins = openBuiltins({ catalogue: { ...smallCatalogue, call: () => Promise.resolve(answer) } });
  expect(failureOf(await builtins.call('call_tool', { name: 'notes:add' }))).toBe(text);
});

test('[BI-2] wrong arguments are explained to the model, and every other refusal keeps its code', async () => {
  await using builtins = openBuiltins();
  expect(failureOf(await builtins.call('call_tool', { name: 'notes:add' }))).toBe('arguments.text: is required');

  const busy = new CribError('RATE_LIMITED', 'Too many calls');
  await using limited = openBuiltins({ catalogue: { ...smallCatalogue, call: () => Promise.reject(busy) } });
  await expect(limited.call('call_tool', { name: 'notes:add' })).rejects.toBe(busy);
});

test('[BI-2] call_tool is annotated as changing things and reaching anywhere', () => {
  expect(toolNamed('call_tool').definition.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
});
