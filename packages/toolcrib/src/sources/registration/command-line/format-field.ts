import type { Certainty } from '../command-line.ts';

/** How surely a text is a document of the format that one of these fields identifies, such as `openapi: 3.1.0`. */
export function formatField(text: string, fields: readonly string[]): Certainty | undefined {
  const names = fields.join('|');
  // At the start of a document, the field identifies the format. Further down, it may belong to another format.
  if (new RegExp(`^(?:\\s|#.*$|---.*$|%.*$)*\\{?\\s*["']?(?:${names})["']?\\s*:`, 'm').exec(text)?.index === 0) return 'certain';
  const anywhere = new RegExp(`^\\s*["']?(?:${names})["']?\\s*:|[{,]\\s*"(?:${names})"\\s*:`, 'm');
  return anywhere.test(text) ? 'likely' : undefined;
}
