import type { RefreshReport } from '../model/refresh-report.ts';
import type { SourceRecord } from '../model/source.ts';
import { escapeHidden } from './hidden-characters.ts';

const mostNames = 10;

/** [INV-3] The findings of a discovery that somebody should look at, as lines for the source's log. */
export function reportLines({ waiting, flagged, left_out }: RefreshReport, { namespace, definition }: SourceRecord): string[] {
  const lines: string[] = [];
  const held = definition?.pinning === 'quarantine';
  if (waiting.length > 0) {
    const what = held ? 'New or changed tools wait for approval' : 'Tools have a different definition from the approved one';
    lines.push(`${what}: ${listed(waiting)}. \`toolcrib sources differences ${namespace}\` shows them.`);
  }
  if (flagged.length > 0) lines.push(`Look closely at: ${listed(flagged.map(({ tool, kinds }) => `${tool} (${kinds.join(', ')})`))}`);
  if (left_out.length > 0) lines.push(`Left out, since an administrator gave their names to other tools: ${listed(left_out)}`);
  return lines;
}

/** The source chose the names, so they are cut. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).map(escapeHidden).join(', ');
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown;
}
