import { z } from 'zod';
import { escapeHidden } from '../inventory/hidden-characters.ts';
import type { ShownSource } from './source-client.ts';
import { printable } from '../text/printable.ts';

const names = z.array(z.string()).catch([]);
const version = z.string().nullable().catch(null);
const reportSchema = z.looseObject({
  added: names,
  changed: names,
  removed: names,
  left_out: names,
  server_version: z.looseObject({ before: version, after: version }).catch({ before: null, after: null }),
});

/** [INV-2] What a refresh changed, one line per kind of change; no lines if nothing changed or it was no refresh. */
export function refreshLines(source: ShownSource): string[] {
  const report = reportSchema.safeParse(source['report']).data;
  if (report === undefined) return [];
  const { before, after } = report.server_version;
  const kinds: [string, string[]][] = [
    ['Added', report.added],
    ['Changed', report.changed],
    ['Removed', report.removed],
    ['Left out', report.left_out],
    ['Version', before === after || before === null ? [] : [`${before} → ${after ?? 'unknown'}`]],
    ['Waiting', source.waiting === 0 ? [] : [`${source.waiting} for approval: \`toolcrib sources differences ${source.namespace}\``]],
  ];
  return kinds.flatMap(([kind, list]) => (list.length === 0 ? [] : [`  ${kind}: ${printable(escapeHidden(list.join(', ')))}`]));
}
