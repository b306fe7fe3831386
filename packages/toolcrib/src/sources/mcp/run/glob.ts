import { compileSafeRegex } from '../../../policy/safe-regex.ts';

/** Whether a name or path fits a pattern in which `*` stands for anything but a slash, and `**` for anything. */
export function matchesGlob(glob: string, text: string): boolean {
  let known = compiled.get(glob);
  if (known === undefined) compiled.set(glob, (known = compile(glob)));
  return known(text);
}

/** The operator's patterns, of which there are only so many as the file has. */
const compiled = new Map<string, (text: string) => boolean>();

function compile(glob: string): (text: string) => boolean {
  const pattern = glob
    .split(/(\*+)/)
    .map((piece) => (piece === '*' ? '[^/]*' : piece.startsWith('*') ? '.*' : piece.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&')))
    .join('');
  return compileSafeRegex(pattern);
}
