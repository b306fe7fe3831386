import { CribError } from '../model/crib-error.ts';
import { defineCommand } from './command.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { administratorFrom, administratorOptions } from './secrets-options.ts';
import { createSourceClient, type Administrator } from './source-client.ts';
import { followSourceLog, readSourceLog, type ShownLine } from './source-log.ts';
import { paint, print, printJson, remark } from './terminal.ts';
import { printable } from '../text/printable.ts';

export const logs = defineCommand({
  operands: '<source>',
  operandCount: [1, 1],
  options: {
    ...administratorOptions,
    lines: { value: 'n', short: 'n', help: 'How many lines', default: '100' },
    follow: { short: 'f', help: 'Keeps showing new lines, until Ctrl-C' },
    wire: { help: 'Shows recorded messages between Toolcrib and the source instead' },
    record: { value: 'minutes', help: 'Records those messages for this many minutes; 0 stops recording' },
  },
  notes: [
    'Shows what the server of a source wrote to standard error, and events such as restarts. Only the last 1000 lines are kept.',
    'MCP messages are recorded only with --record, and only by the server you ask. They contain what users send and receive, but no secrets.',
    'With --json and --follow, every line is a JSON object.',
  ],
  examples: ['toolcrib logs everything', 'toolcrib logs everything -n 20 -f', 'toolcrib logs everything --wire --record 15 -f'],
  async run(given) {
    const wanted = { lines: given.number('lines', { least: 1, most: 1000 }), wire: given.on('wire') };
    const minutes = given.text('record') === undefined ? undefined : given.number('record', { least: 0, most: 1440 });
    const administrator = await administratorFrom(given);
    const { id, namespace } = await createSourceClient(administrator).find(given.operands[0] ?? '');
    const json = given.on('json');
    if (minutes !== undefined) await keepMessages(administrator, id, minutes);
    if (given.on('follow')) {
      const signal = interruptSignal();
      try {
        for await (const line of followSourceLog(administrator, id, wanted, signal))
          print(json ? JSON.stringify(line) : describeLine(line));
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      // Ctrl-C is how following ends.
      if (signal.aborted) return 0;
      throw new CribError('SERVICE_UNAVAILABLE', `${administrator.client.url} ended the stream: is it being stopped?`);
    }
    const log = await readSourceLog(administrator, id, wanted);
    if (json) printJson(log);
    else if (log.lines.length === 0)
      remark(wanted.wire ? nothingKept(namespace) : `${namespace} has written nothing since the server started.`);
    else print(log.lines.map(describeLine).join('\n'));
    return 0;
  },
});

async function keepMessages({ client, token }: Administrator, id: string, minutes: number): Promise<void> {
  const body = minutes === 0 ? { enabled: false } : { enabled: true, minutes };
  await client.json('PUT', `/api/sources/${id}/wire-log`, { token, body });
}

function nothingKept(namespace: string): string {
  return `No messages of ${namespace} were recorded: \`toolcrib logs ${namespace} --wire --record 15\` records them for 15 minutes.`;
}

const marks: Record<string, string> = { sent: '→ ', received: '← ' };

function describeLine({ time, stream, text }: ShownLine): string {
  // One line per message, whatever is in it.
  const plain = printable(text).replaceAll('\n', ' ');
  const isEvent = stream === 'event';
  return `${paint('dim', new Date(time).toISOString())}  ${isEvent ? paint('cyan', `toolcrib: ${plain}`) : `${marks[stream] ?? ''}${plain}`}`;
}
