import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from './running-server.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** The names of the rules that the linter reports for a file of this text at this place. */
async function findings(path: string, text: string): Promise<string[]> {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await copyFile(join(root, '.oxlintrc.json'), join(folder.path, '.oxlintrc.json'));
  const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [oxlint, '-f', 'json'], { cwd: folder.path }, (_failed, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string }[] };
  return diagnostics.map(({ code }) => code);
}

const inSources = 'packages/toolcrib/src/sources/openapi/guess.ts';

test.each([
  ["import http from 'node:http';\nexport const client = http;", 'eslint(no-restricted-imports)'],
  ["import { connect } from 'tls';\nexport const client = connect;", 'eslint(no-restricted-imports)'],
  ["import { Agent } from 'undici';\nexport const client = Agent;", 'eslint(no-restricted-imports)'],
  ["export const client = () => import('undici');", 'eslint(no-restricted-imports)'],
  ["export const answer = await fetch('https://example.org');", 'eslint(no-restricted-globals)'],
  ["export const answer = await globalThis.fetch('https://example.org');", 'eslint(no-restricted-properties)'],
  ["export const socket = new WebSocket('wss://example.org');", 'eslint(no-restricted-globals)'],
])('[SEC-1] the linter refuses a second way out: %s', async (text, rule) => {
  expect(await findings(inSources, `${text}\n`)).toContain(rule);
});

test('[SEC-1] the linter allows the way out itself, and types', async () => {
  const text = "import http from 'node:http';\nexport const client = http;\n";
  expect(await findings('packages/toolcrib/src/net/egress.ts', text)).toEqual([]);
  // A program of its own, which serves.
  expect(await findings('packages/toolcrib/src/demo/pizzeria-service.ts', text)).toEqual([]);
  expect(await findings('packages/toolcrib/src/demo/pizzeria-api.ts', text)).not.toEqual([]);
  expect(await findings(inSources, "import type { Socket } from 'node:net';\nexport type Wire = Socket;\n")).toEqual([]);
});
