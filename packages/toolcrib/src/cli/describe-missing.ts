import type { CommandLine } from '../sources/registration/command-line.ts';
import type { ShownPreview } from './source-client.ts';

/** Which required values are missing, and how each is given on the command line. */
export function describeMissing(kind: CommandLine, { missing, definition }: Pick<ShownPreview, 'missing' | 'definition'>): string {
  const ways = missing.map((field) => {
    const [place = '', ...rest] = field.split('.');
    const name = rest.at(-1) ?? field;
    const option = place === 'headers' ? `--header '${name}: …'` : kind.optionFor?.(field, definition);
    return `${name} (${option ?? `${field} of a registration over REST`})`;
  });
  return `These required values are missing: ${ways.join(', ')}`;
}
