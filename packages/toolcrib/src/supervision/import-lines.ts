import type { ImportSummary } from '../model/import-summary.ts';

const mostReasons = 5;

/** [OAS-1] What became of a document, as lines for the source's log. */
export function importLines({ operations, tools, skipped, skipped_total, warnings_total, advice }: ImportSummary): string[] {
  const reasons = skipped.slice(0, mostReasons).map(({ operation, reason }) => `${operation} (${reason})`);
  const more = skipped_total > mostReasons ? ` and ${skipped_total - mostReasons} more` : '';
  const left = skipped_total === 0 ? '' : `: ${reasons.join(', ')}${more}`;
  const counted = `${count(operations, 'operation')}, ${count(tools, 'tool')}, ${skipped_total} skipped${left}`;
  const remarks = warnings_total === 0 ? [] : [`${count(warnings_total, 'remark')} on the document: the source's import report has them`];
  return [counted, ...remarks, ...(advice === null ? [] : [advice])];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
