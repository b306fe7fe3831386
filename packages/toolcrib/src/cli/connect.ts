import { callerFrom } from './caller.ts';
import { clientOptions } from './client-options.ts';
import { defineCommand } from './command.ts';
import { createConnectionClient, type ShownConnection } from './connection-client.ts';
import { align } from './align.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { openProgressLine } from './progress-line.ts';
import { complain, lineWidth, paint, print, printJson, remark } from './terminal.ts';

export const connect = defineCommand({
  operands: '[source]',
  operandCount: [0, 1],
  options: {
    ...clientOptions,
    discovery: { help: 'For administrators: connects the source itself, so that its tools can be found' },
    end: { help: 'Ends the connection: the tokens are deleted here and withdrawn there' },
  },
  notes: [
    'Alone it lists the sources that want a connection of yours.',
    'With the namespace of a source it prints an address. Open it in your own browser and allow it there; the command waits until you have.',
    'Do not open an address that somebody else gives you: what you allow there is theirs to use.',
  ],
  examples: ['toolcrib connect', 'toolcrib connect wiki', 'toolcrib connect wiki --discovery --as admin', 'toolcrib connect wiki --end'],
  async run(given) {
    const connections = createConnectionClient(await callerFrom(given));
    const [written] = given.operands;
    const json = given.on('json');
    if (written === undefined) {
      const list = await connections.list();
      if (json) printJson(list);
      else if (list.connections.length === 0) remark('No source that you may use wants a connection.');
      else print(table(list.connections));
      return 0;
    }
    const purpose = given.on('discovery') ? 'discovery' : 'calls';
    if (given.on('end')) {
      await connections.end(written, purpose);
      if (!json) print(`The connection to ${written} is ended.`);
      return 0;
    }
    const signal = interruptSignal();
    const begun = await connections.begin(written, purpose, signal);
    if (json) printJson(begun);
    else print(begun.authorization_url);
    remark('Open this address in your browser and allow it there.');
    const progress = openProgressLine('Waiting');
    try {
      const connected = await connections.finished(begun, signal);
      progress.end();
      if (connected) {
        remark(`${written} is connected.`);
        return 0;
      }
      complain(`Nobody has allowed it within ten minutes. \`toolcrib connect ${written}\` begins again`);
      return 1;
    } catch (error) {
      progress.end();
      if (!signal.aborted) throw error;
      remark('No longer waiting. The address works for ten minutes.');
      return interruptedCode;
    }
  },
});

function table(connections: readonly ShownConnection[]): string {
  const rows = connections.map(({ namespace, source_name, for: purpose, connected }) => [
    namespace,
    connected ? 'connected' : 'not connected',
    purpose,
    source_name,
  ]);
  const painter = (text: string, column: number, row: number) => {
    const shown = connections[row - 1];
    if (shown === undefined) return paint('dim', text);
    if (column === 0) return paint('bold', text);
    return column === 1 ? paint(shown.connected ? 'green' : 'yellow', text) : text;
  };
  return align([['NAMESPACE', 'STATE', 'FOR', 'NAME'], ...rows], { width: lineWidth(), paint: painter }).join('\n');
}
