import { CribError } from '../model/crib-error.ts';
import { countTools } from './describe-source.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { refreshLines } from './refresh-lines.ts';
import { reportFailedStart } from './report-failed-start.ts';
import { createSourceClient, type Administrator, type ShownSource, type SourceClient } from './source-client.ts';
import { complain, print, printJson, remark } from './terminal.ts';
import { whileWatching } from './while-watching.ts';

/** What can be done to a source, how it is called while it goes on, and when it went wrong. */
const changes = {
  start: { going: 'Starting', failed: 'could not be started', retry: 'restart' },
  stop: { going: 'Stopping', failed: 'could not be stopped', retry: 'restart' },
  restart: { going: 'Restarting', failed: 'could not be started', retry: 'restart' },
  refresh: { going: 'Asking for the tools of', failed: 'could not be asked for its tools', retry: 'restart' },
  enable: { going: 'Starting', failed: 'could not be started and stays disabled', retry: 'enable' },
  disable: { going: 'Stopping', failed: 'could not be disabled', retry: 'restart' },
} as const;
type SourceChange = keyof typeof changes;

export const sourceChanges = Object.keys(changes);

export function isSourceChange(word: string): word is SourceChange {
  return Object.hasOwn(changes, word);
}

/** Makes the change, shows the output of the source meanwhile, and reports the result. */
export async function changeSource(
  administrator: Administrator,
  source: ShownSource,
  change: SourceChange,
  { json }: { json: boolean },
): Promise<number> {
  const { id, namespace } = source;
  const { going, failed, retry } = changes[change];
  if (source.definition === null) throw new CribError('CONFLICT', `${namespace} is built in and cannot be changed`);
  const client = createSourceClient(administrator);
  const signal = interruptSignal();
  try {
    const changed = await whileWatching(administrator, { id, label: `${going} ${namespace}`, signal }, () =>
      change === 'enable' || change === 'disable' ? client.setEnabled(id, change === 'enable', signal) : client.act(id, change, signal),
    );
    if (json) printJson(changed);
    else print([outcome(changed), ...refreshLines(changed)].join('\n'));
    return 0;
  } catch (error) {
    if (signal.aborted) {
      remark(`No longer watching. The server continues: \`toolcrib sources show ${namespace}\` shows how it went.`);
      return interruptedCode;
    }
    if (!(error instanceof CribError) || json) throw error;
    // The message of a conflict says what to do, and nothing was tried.
    if (error.code === 'CONFLICT') complain(`${namespace} ${failed}: ${error.message}`);
    else reportFailedStart({ namespace, what: failed, message: await reasonOf(client, id, error), code: error.code, retry });
    return 1;
  }
}

/** The status has the same reason without the output of the server. */
async function reasonOf(client: SourceClient, id: string, { message }: CribError): Promise<string> {
  const { status } = await client.find(id).catch(() => ({ status: undefined }));
  return status?.message === message && status.summary !== undefined ? status.summary : message;
}

function outcome({ namespace, status }: ShownSource): string {
  const note = status.message === undefined ? '' : ` ${status.message}.`;
  if (status.state === 'running') return `${namespace} is running and has ${countTools(status.tools ?? 0)}.${note}`;
  return `${namespace} is ${status.state}${status.state === 'stopped' || status.state === 'disabled' ? ': its tools are not listed' : ''}.`;
}
