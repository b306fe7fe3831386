import { isIP } from 'node:net';
import { resolve, sep } from 'node:path';
import { checkCommand } from '../sources/mcp/registration/command-safety.ts';
import type { AddTarget } from './add-target.ts';

/** Words that say what every server is, and not which one. */
const generic = new Set(
  'mcp server servers index main app run start cli api www src dist build lib bin out latest openapi swagger arazzo api-docs spec specs docs schema'.split(
    ' ',
  ),
);

/** A short name for a source that was given none: `@modelcontextprotocol/server-everything` is `everything`. */
export function addName(target: AddTarget): string {
  if (target.kind === 'address') return nameOfAddress(target.url);
  if (target.kind === 'document') {
    if (target.text === null) return nameOfAddress(target.written);
    return telling(resolve(target.written).split(sep).reverse()) ?? target.written;
  }
  if (target.kind === 'registry') return telling(target.name.split('/').reverse()) ?? target.name;
  if (target.kind === 'plugin') return telling(target.directory.split(sep).reverse()) ?? target.directory;
  if (target.kind === 'container') {
    const place = target.container ?? target.image ?? '';
    return telling(place.split('/').reverse()) ?? place;
  }
  const [program = ''] = target.command;
  const runs = checkCommand(target.command, { allowRisky: true, allowedMounts: 'any' }).runs[0] ?? program;
  return telling(runs.replaceAll('\\', '/').split('/').reverse()) ?? runs;
}

function nameOfAddress(url: string): string {
  const { hostname, port } = URL.parse(url) ?? { hostname: url, port: '' };
  const labels = hostname.split('.');
  if (labels.length === 1 || isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) return port === '' ? hostname : `${hostname}-${port}`;
  // From the end, because the name of the organisation stands there; not the country, nor what stands before it as in `co.uk`.
  return (
    telling(
      labels
        .slice(0, -1)
        .reverse()
        .filter((label) => label.length > 2),
    ) ?? hostname
  );
}

/** The first of these that says something, without what every server has in its name. */
function telling(parts: readonly string[]): string | undefined {
  return parts.map(withoutFiller).find((part) => part !== '' && !generic.has(part.toLowerCase()));
}

function withoutFiller(part: string): string {
  return part
    .replace(/^@/, '')
    .replace(/(?<=.)@.*$|(?<=.):[\w.-]+$/, '')
    .replace(/\.(?:[cm]?[jt]s|pyw?|rb|jar|exe|cmd|sh|json|ya?ml)$/i, '')
    .replace(/\.(?:openapi|swagger|arazzo)$/i, '')
    .replace(/^(?:mcp[-_]server[-_]|server[-_]|mcp[-_])/i, '')
    .replace(/[-_](?:mcp[-_]server|server[-_]mcp|mcp|server)$/i, '');
}
