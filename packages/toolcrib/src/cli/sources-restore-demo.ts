import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import { readJson } from './client.ts';
import { countTools } from './describe-source.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { parseAnswer } from './parse-answer.ts';
import { reportFailedStart } from './report-failed-start.ts';
import { createSourceClient, type Administrator } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';

const restoredSchema = z.looseObject({ sources: z.array(z.looseObject({ id: z.string(), namespace: z.string() })) });

/** Restores the demo sources of a development server, and waits until they have started. */
export async function restoreDemo(administrator: Administrator, { json }: { json: boolean }): Promise<number> {
  const { client, token } = administrator;
  const response = await client.send('POST', '/dev/demo', { token });
  if (response.status === 404)
    throw new CribError('NOT_FOUND', `${client.url} has an issuer: the demo exists only in development, without --issuer`);
  const { sources } = parseAnswer(restoredSchema, await readJson(client.url, response), client.url);
  const signal = interruptSignal();
  const watching = createSourceClient(administrator);
  try {
    const settled = await Promise.all(sources.map(({ id }) => watching.settled(id, signal)));
    if (json) printJson({ sources: settled });
    else
      for (const { namespace, status } of settled) {
        if (status.state === 'running') print(`${namespace} is running and has ${countTools(status.tools ?? 0)}.`);
        else reportFailedStart({ namespace, what: 'could not be started', message: status.summary ?? status.message, code: status.code });
      }
    return settled.every(({ status }) => status.state === 'running') ? 0 : 1;
  } catch (error) {
    if (!signal.aborted) throw error;
    remark('No longer watching. The demo is being started: `toolcrib sources` shows how it went.');
    return interruptedCode;
  }
}
