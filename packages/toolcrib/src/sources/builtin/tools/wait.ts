import { numberArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { harmless, structuredOutput } from '../builtin-tool.ts';

const longest = 300;
const betweenReports = 1;

export const waitTool: BuiltinTool = {
  definition: {
    name: 'wait',
    title: 'Wait',
    description:
      'Waits the given number of seconds, then returns. Use it between two checks of something that takes time, such as a running job. ' +
      `At most ${longest} seconds at once; call it again to wait longer.`,
    input_schema: {
      type: 'object',
      properties: {
        seconds: { type: 'number', minimum: 0, maximum: longest, description: 'How long to wait, in seconds; fractions are allowed' },
      },
      required: ['seconds'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: { waited_seconds: { type: 'number', description: 'How long it waited' } },
      required: ['waited_seconds'],
      additionalProperties: false,
    },
    annotations: { title: 'Wait', ...harmless },
  },
  tags: ['time'],
  async run(args, context, { clock, closing }) {
    const total = Math.min(numberArgument(args, 'seconds'), longest);
    const ended = AbortSignal.any([context.signal.toAbortSignal(), closing]);
    try {
      // Progress is computed from the step number, not added up, so that the reports are round numbers.
      for (let step = 0; step * betweenReports < total; step++) {
        const done = Math.min((step + 1) * betweenReports, total);
        ended.throwIfAborted();
        await clock.sleep((done - step * betweenReports) * 1000, ended);
        context.progress({ progress: done, total });
      }
    } catch (error) {
      // The timer's error says only that it was aborted; the signal has the reason.
      throw ended.aborted ? ended.reason : error;
    }
    return structuredOutput({ waited_seconds: total }, `Waited ${total} seconds.`);
  },
};
