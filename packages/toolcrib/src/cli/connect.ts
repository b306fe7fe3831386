import { canAsk } from './agreed.ts';
import { callerFrom } from './caller.ts';
import { clientOptions } from './client-options.ts';
import { defineCommand } from './command.ts';
import { openCodeInbox } from './code-inbox.ts';
import { createConnectionClient, type ConnectionClient, type Purpose, type ShownConnection } from './connection-client.ts';
import { align } from '../text/align.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { complain, lineWidth, paint, print, printJson, remark } from './terminal.ts';

export const connect = defineCommand({
  operands: '[source]',
  operandCount: [0, 1],
  options: {
    ...clientOptions,
    discovery: { help: 'For administrators: connects the source itself, so that its tools can be found' },
    code: { value: 'code', help: 'Finishes a connection that was started before, with the code from the last page' },
    end: { help: 'Ends the connection: deletes its tokens here and revokes them there' },
  },
  notes: [
    'Without a source, lists the sources that need your own connection.',
    'With the namespace of a source, prints an address. Open it in your own browser and grant access there. Then choose "finish now" on the last page, or paste the code it shows.',
    'Do not share that code: with it, the person who started the connection can use your account.',
  ],
  examples: ['toolcrib connect', 'toolcrib connect wiki', 'toolcrib connect wiki --discovery --as admin', 'toolcrib connect wiki --end'],
  async run(given) {
    const connections = createConnectionClient(await callerFrom(given));
    const [written] = given.operands;
    const json = given.on('json');
    if (written === undefined) {
      const list = await connections.list();
      if (json) printJson(list);
      else if (list.connections.length === 0) remark('None of the sources you may use needs a connection.');
      else print(table(list.connections));
      return 0;
    }
    const purpose = given.on('discovery') ? 'discovery' : 'calls';
    if (given.on('end')) {
      await connections.end(written, purpose);
      if (!json) print(`The connection to ${written} has ended.`);
      return 0;
    }
    const signal = interruptSignal();
    const code = given.text('code');
    if (code !== undefined) await connections.redeem(await connections.redeemUrl(written, purpose), code, signal);
    else if (!(await connectInBrowser(connections, written, purpose, json, signal))) return signal.aborted ? interruptedCode : 1;
    remark(`${written} is connected.`);
    return 0;
  },
});

/** False if nobody has finished the connection. */
async function connectInBrowser(connections: ConnectionClient, written: string, purpose: Purpose, json: boolean, signal: AbortSignal) {
  await using inbox = await openCodeInbox();
  const begun = await connections.begin(written, purpose, inbox.port, signal);
  if (json) printJson(begun);
  else print(begun.authorization_url);
  remark('Open this address in your browser and grant access there.');
  remark(canAsk() ? 'Then finish it on the last page, or paste the code it shows.' : 'Then finish it on the last page. Waiting…');
  const tooLate = AbortSignal.timeout(Math.max(0, begun.expires_at - Date.now()));
  try {
    await inbox.taken((code) => connections.redeem(begun.redeem_url, code, signal), AbortSignal.any([signal, tooLate]));
    return true;
  } catch (error) {
    const later = `\`toolcrib connect ${written}${purpose === 'discovery' ? ' --discovery' : ''} --code CODE\` finishes it`;
    if (signal.aborted) remark(`No longer waiting. The address works for ten minutes, and ${later}.`);
    else if (tooLate.aborted) complain(`The connection was not finished within ten minutes. \`toolcrib connect ${written}\` starts again`);
    else throw error;
    return false;
  }
}

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
