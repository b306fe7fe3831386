import { resolve, sep } from 'node:path';
import type { Operand } from '../command-line.ts';

/** Words in the names of many servers, which do not tell servers apart. */
const generic = new Set(
  'mcp server servers index main app run start cli api www src dist build lib bin out latest spec specs docs schema'.split(' '),
);

/** Parts of names that do not tell sources of one kind apart. */
export interface Filler {
  /** Words that only name the kind: `openapi`, as in `openapi.json`. */
  words?: readonly string[];
  /** Endings of file names: `.openapi.json`. */
  endings?: RegExp;
}

/** A short name for a source: the first part that is not generic, without affixes such as `mcp-server-`. */
export function tellingName(parts: readonly string[], filler: Filler = {}): string | undefined {
  return parts
    .map((part) => withoutFiller(part, filler))
    .find((part) => part !== '' && !generic.has(part.toLowerCase()) && filler.words?.includes(part.toLowerCase()) !== true);
}

/** Named after the host: `https://mcp.example.org/mcp` is `example`. */
export function nameOfAddress({ hostname, port }: URL): string {
  const labels = hostname.split('.');
  const isIpAddress = hostname.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(hostname);
  if (labels.length === 1 || isIpAddress) return port === '' ? hostname : `${hostname}-${port}`;
  // From the end, where the organisation's name is, but without the top-level domain and short labels such as `co` in `co.uk`.
  const telling = labels.slice(0, -1).filter((label) => label.length > 2);
  return tellingName(telling.reverse()) ?? hostname;
}

/** A document is named after its address or its file. */
export function nameOfDocument({ written, address }: Operand, filler: Filler): string {
  if (address !== undefined) return nameOfAddress(address);
  return tellingName(resolve(written).split(sep).reverse(), filler) ?? written;
}

function withoutFiller(part: string, { endings = /$^/ }: Filler): string {
  return part
    .replace(/^@/, '')
    .replace(/(?<=.)@.*$|(?<=.):[\w.-]+$/, '')
    .replace(endings, '')
    .replace(/\.(?:[cm]?[jt]s|pyw?|rb|jar|exe|cmd|sh|json|ya?ml)$/i, '')
    .replace(/^(?:mcp[-_]server[-_]|server[-_]|mcp[-_])/i, '')
    .replace(/[-_](?:mcp[-_]server|server[-_]mcp|mcp|server)$/i, '');
}
