/** Wraps a text between words into lines of at most `width`; `indent` applies to all lines but the first. */
export function wrap(text: string, width: number, indent = 0): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : `${' '.repeat(indent)}${word}`);
  }
  return lines;
}
