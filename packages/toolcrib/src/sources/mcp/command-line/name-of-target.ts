import { sep } from 'node:path';
import { nameOfAddress, tellingName } from '../../registration/command-line/telling-name.ts';
import { checkCommand } from '../registration/command-safety.ts';
import type { McpTarget } from './target.ts';

/** A short name for a server that was given none: `@modelcontextprotocol/server-everything` is `everything`. */
export function nameOfTarget(target: McpTarget): string {
  if (target.kind === 'address') return nameOfAddress(target.url);
  if (target.kind === 'registry') return tellingName(target.name.split('/').reverse()) ?? target.name;
  if (target.kind === 'plugin') return tellingName(target.directory.split(sep).reverse()) ?? target.directory;
  if (target.kind === 'container') {
    const place = target.container ?? target.image ?? '';
    return tellingName(place.split('/').reverse()) ?? place;
  }
  const [program = ''] = target.command;
  const runs = checkCommand(target.command, { allowRisky: true, allowedMounts: 'any' }).runs[0] ?? program;
  return tellingName(runs.replaceAll('\\', '/').split('/').reverse()) ?? runs;
}
