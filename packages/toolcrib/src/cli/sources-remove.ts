import { CribError } from '../model/crib-error.ts';
import { agreed, refuseUnasked } from './agreed.ts';
import { countTools } from './describe-source.ts';
import type { ShownSource, SourceClient } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';
import { printable } from '../text/printable.ts';

/** Removes a source, after a question at a terminal or with --yes. */
export async function removeSource(
  client: SourceClient,
  { id, name, namespace, status, definition }: ShownSource,
  { json, ask }: { json: boolean; ask: boolean },
): Promise<number> {
  if (definition === null) throw new CribError('CONFLICT', `${namespace} is built in and cannot be removed`);
  const tools = status.tools === undefined ? 'its tools' : `its ${countTools(status.tools).replace(/^no tools$/, 'tools')}`;
  if (ask) refuseUnasked(`remove ${namespace}`);
  if (ask && !(await agreed(`Remove ${namespace} (${printable(name)}), ${tools} and its secrets? [y/N] `))) {
    remark('Nothing was removed.');
    return 1;
  }
  await client.remove(id);
  if (json) printJson({ removed: namespace });
  else print(`${namespace} is removed.`);
  return 0;
}
