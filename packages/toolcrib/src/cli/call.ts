import { z } from 'zod';
import { answerSchema } from '../api.ts';
import { formatForModel } from '../execution/format-for-model.ts';
import { CribError } from '../model/crib-error.ts';
import type { Json } from '../model/json.ts';
import { callArguments } from './call-arguments.ts';
import { callerFrom } from './caller.ts';
import { clientOptions } from './client-options.ts';
import { readJson, refusalOf, type ClientResponse } from './client.ts';
import { defineCommand } from './command.ts';
import { describeEvent } from './describe-event.ts';
import { explainRefusal } from './explain-refusal.ts';
import { parseAnswer } from './parse-answer.ts';
import { readEventStream } from '../net/read-event-stream.ts';
import { complain, print, printJson, remark } from './terminal.ts';
import { printable } from '../text/printable.ts';
import { counted } from '../text/counted.ts';

const { text, result, structured_content, success, content, error } = answerSchema.shape;
const shownSchema = z.looseObject({
  text,
  result,
  structured_content,
  success,
  content,
  // Earlier versions of the server do not say whose failure it is.
  error: z.looseObject({ ...error.unwrap().shape, origin: error.unwrap().shape.origin.optional() }).nullable(),
});
type ShownAnswer = z.infer<typeof shownSchema>;

const interrupted = 130;

export const call = defineCommand({
  operands: '<tool> [json]',
  operandCount: [1, 2],
  options: {
    ...clientOptions,
    arg: {
      value: 'name=value',
      many: true,
      help: 'Sets one argument. The value is read as JSON if it is valid JSON, and as text otherwise',
    },
    timeout: { value: 'ms', help: 'Timeout of the call' },
    stream: { help: 'Shows the progress of the call on standard error' },
  },
  notes: [
    'The arguments are a JSON object; `-` reads it from standard input. --arg sets values on top of it.',
    'Structured answers are printed as YAML.',
    'Ctrl-C cancels the call.',
  ],
  examples: [
    'toolcrib call builtin:calculator \'{"expression": "6 * 7"}\'',
    'toolcrib call builtin:calculator --arg expression="6 * 7"',
    'toolcrib call builtin:wait --arg seconds=5 --stream',
  ],
  async run(given) {
    const [tool = '', json] = given.operands;
    const timeout = given.text('timeout') === undefined ? {} : { timeout_ms: given.number('timeout', { least: 1, most: 3_600_000 }) };
    const body = { name: tool, arguments: await callArguments(json, given.list('arg'), process.stdin), ...timeout };
    const caller = await callerFrom(given);
    const { client, token } = caller;
    const cancel = new AbortController();
    // Never removed: one Ctrl-C may arrive more than once, and the next must not end the program before it has reported the outcome.
    process.on('SIGINT', () => cancel.abort());
    try {
      const accept = given.on('stream') ? 'text/event-stream' : 'application/json';
      const options = { token, body, accept, signal: cancel.signal, silenceMs: 0 };
      const response = await client.send('POST', '/api/bff/tools/call', options);
      return show(parseAnswer(shownSchema, await lastOf(response, client.url), client.url), given.on('json'));
    } catch (error) {
      if (!cancel.signal.aborted) throw await explainRefusal(error, { caller, tool, args: body.arguments, pairs: given.list('arg') });
      complain('Cancelled');
      return interrupted;
    }
  },
});

/** The answer, or the last event of a stream. */
async function lastOf(response: ClientResponse, url: string): Promise<unknown> {
  if (!response.contentType.startsWith('text/event-stream')) return readJson(url, response);
  for await (const { event, data } of readEventStream(response.body, Infinity)) {
    // An id or a retry time alone.
    if (data === '') continue;
    const value = parseData(data, url);
    if (event === 'result') return value;
    if (event === 'error') throw refusalOf(value) ?? new CribError('NETWORK_ERROR', `${url} ended the call with an error: ${data}`);
    remark(describeEvent(event, value));
  }
  throw new CribError('NETWORK_ERROR', `${url} ended the stream without an answer`);
}

function parseData(data: string, url: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new CribError('NETWORK_ERROR', `${url} sent an event that is not JSON`, { cause });
  }
}

function show(answer: ShownAnswer, json: boolean): number {
  if (json) printJson(answer);
  else if (answer.success) {
    const written = formatForModel({ ...answer, structured_content: answer.structured_content as Json });
    print(process.stdout.isTTY ? printable(written) : written);
    const others = answer.content.filter(({ type }) => type !== 'text').length;
    if (others > 0) remark(`The answer has more than text (${counted(others, 'block')}): --json shows it.`);
  }
  if (answer.success) return 0;
  if (!json) complain(answer.error === null ? answer.text : failureWords(answer.error));
  return 1;
}

/** A failure that the tool reports is no outage, and must not read like one. */
function failureWords({ message, code, origin }: NonNullable<ShownAnswer['error']>): string {
  return origin === 'tool' ? `The tool reported: ${message}` : `${message} (${code})`;
}
