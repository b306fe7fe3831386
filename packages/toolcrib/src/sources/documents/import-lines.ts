import type { ImportSummary } from '../../model/import-summary.ts';
import { counted } from '../../text/counted.ts';

const mostReasons = 5;

/** [OAS-1] Summarises an import as lines for the source's log. */
export function importLines({ operations, tools, skipped, skipped_total, warnings_total, advice }: ImportSummary): string[] {
  const reasons = skipped.slice(0, mostReasons).map(({ operation, reason }) => `${operation} (${reason})`);
  const more = skipped_total > mostReasons ? ` and ${skipped_total - mostReasons} more` : '';
  const left = skipped_total === 0 ? '' : `: ${reasons.join(', ')}${more}`;
  const summary = `${counted(operations, 'operation')}, ${counted(tools, 'tool')}, ${skipped_total} skipped${left}`;
  const remarks = warnings_total === 0 ? [] : [`${counted(warnings_total, 'warning')}: see the import report of the source`];
  return [summary, ...remarks, ...(advice === null ? [] : [advice])];
}
