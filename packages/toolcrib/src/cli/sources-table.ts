import { align } from '../text/align.ts';
import { paintState, transportOf } from './describe-source.ts';
import type { ShownSource } from './source-client.ts';
import { lineWidth, paint } from './terminal.ts';

/** All sources at a glance: what is up, what broke, and why. */
export function sourceTable(sources: readonly ShownSource[]): string {
  const rows = sources.map((source) => {
    const { namespace, status, health, server } = source;
    const serverName = server === null ? '' : `${server.name} ${server.version}`;
    const note = status.message === undefined ? serverName : inOneLine(status);
    return [namespace, status.state, health, status.tools === undefined ? '' : String(status.tools), transportOf(source), note];
  });
  const painter = (text: string, column: number, row: number) => {
    const source = sources[row - 1];
    if (source === undefined) return paint('dim', text);
    if (column === 0) return paint('bold', text);
    if (column === 1) return paintState(source.status.state, text);
    return column === 2 ? paintState(source.health, text) : text;
  };
  return align([['NAMESPACE', 'STATE', 'HEALTH', 'TOOLS', 'TRANSPORT', 'SERVER OR ERROR'], ...rows], {
    width: lineWidth(),
    paint: painter,
  }).join('\n');
}

const mostCharacters = 300;

/** Of the lines that the server wrote, the last says most; `sources show` has them all. */
function inOneLine({ message = '', summary = message, last_words = [] }: ShownSource['status']): string {
  const line = `${summary} ${last_words.at(-1) ?? ''}`.trim();
  return line.length <= mostCharacters ? line : `${line.slice(0, mostCharacters - 1)}…`;
}
