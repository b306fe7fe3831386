import { isObject, type Json } from '../../../model/json.ts';

const longest = 500;

/** The service's own error message, from the usual fields; empty if there is none. */
export function upstreamWords(body: Json | undefined): string {
  const words = typeof body === 'string' ? wordsOfText(body) : wordsIn(body, 0);
  const line = words.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line;
}

function wordsIn(body: Json | undefined, depth: number): string {
  if (typeof body === 'string') return body;
  if (Array.isArray(body)) return depth < 3 ? wordsIn(body[0], depth + 1) : '';
  if (!isObject(body) || depth > 3) return '';
  const { title, detail, error, error_description } = body;
  // RFC 9457: `title` is the type of problem, `detail` describes this occurrence.
  if (typeof title === 'string' && typeof detail === 'string' && title !== '' && detail !== '') return `${title}: ${detail}`;
  // RFC 6749 §5.2: likewise.
  if (typeof error === 'string' && typeof error_description === 'string' && error_description !== '')
    return `${error}: ${error_description}`;
  for (const name of ['message', 'error_description', 'error', 'detail', 'title', 'errors', 'description', 'reason', 'fault', 'msg']) {
    const words = Object.hasOwn(body, name) ? wordsIn(body[name], depth + 1) : '';
    if (words !== '') return words;
  }
  return '';
}

/** Only the title of an HTML page is useful. */
function wordsOfText(text: string): string {
  if (!/^\s*</.test(text)) return text;
  return /<title[^>]*>([^<]{1,500})/i.exec(text)?.[1] ?? '';
}
