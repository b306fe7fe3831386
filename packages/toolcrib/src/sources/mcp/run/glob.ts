import { compileSafeRegex } from '../../../policy/safe-regex.ts';

/** Whether a name or path matches a pattern; `*` stands for anything but a slash, `**` for anything. */
export function matchesGlob(glob: string, text: string): boolean {
  let known = compiled.get(glob);
  if (known === undefined) compiled.set(glob, (known = compile(glob)));
  return known(text);
}

/** Compiled patterns. There are only as many as the operator's file has. */
const compiled = new Map<string, (text: string) => boolean>();

function compile(glob: string): (text: string) => boolean {
  const pattern = glob
    .split(/(\*+)/)
    .map((piece) => (piece === '*' ? '[^/]*' : piece.startsWith('*') ? '.*' : piece.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&')))
    .join('');
  return compileSafeRegex(pattern);
}
