import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** The line of the source in data order: each entry imports only itself and entries before it. */
const order = [
  'demo',
  'model',
  'isolation',
  'threads',
  'store',
  'durable',
  'secrets',
  'net',
  'tracing',
  'identity',
  'policy',
  'sources',
  'supervision',
  'inventory',
  'execution',
  'administration',
  'version.ts',
  'crib-config.ts',
  'open-storage.ts',
  'open-local-running.ts',
  'open-administration.ts',
  'crib.ts',
  'mcp-service.ts',
  'api',
  'api.ts',
  'http',
  'cli',
  'index.ts',
  'main.ts',
];

/** [SEC-1] Everything goes out through `net/`. Others may know these modules for what is said here, and for nothing else. */
const mayKnowTheNetwork: Record<string, string> = {
  net: 'the one guarded way out',
  http: 'serves: it listens for requests and makes none',
  cli: 'a client of our own server, run by the person who names its address',
  'demo/pizzeria-service.ts': 'a program of its own that serves, and no part of the server',
};
const network = /^(node:)?(http|https|http2|net|tls|dgram|undici)$/;
const globalClient = /(?<![.\w])(fetch|WebSocket|EventSource)\s*\(|globalThis\.fetch/;

/** [ID-4] Who may read the token a caller came with, and what for. Everybody else can only hand it on, sealed. */
const mayOpenInbound: Record<string, string> = {
  'identity/token-exchange.ts': 'gives it back to its issuer, for another',
  'identity/forwarded-token.ts': 'sends it to a source that says so outright',
  'identity/kept-principal.ts': 'keeps it, to be sealed, with a call that goes on after a crash',
};

const src = join(import.meta.dirname, '..', 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const texts = new Map(files.map((file) => [file, readFileSync(join(src, file), 'utf8')]));
const importsOf = (file: string) =>
  [...(texts.get(file) ?? '').matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map((found) => found[1] ?? '');
const localImportsOf = (file: string) =>
  importsOf(file)
    .filter((path) => path.startsWith('.'))
    .map((path) => relative(src, join(src, dirname(file), path)));
const entryOf = (file: string) => file.split(/[/\\]/)[0] ?? '';
const placeOf = (file: string) => order.indexOf(entryOf(file));

test('every file belongs to an entry of the line', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => placeOf(file) < 0)).toEqual([]);
});

test('each file imports only its own entry and those before it', () => {
  const wrong = files.flatMap((file) =>
    localImportsOf(file)
      .filter((target) => placeOf(target) > placeOf(file) || !texts.has(target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('no files import each other in a circle', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  function visit(file: string, path: string[]): void {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (path.includes(file) || done.has(file)) return;
    for (const target of localImportsOf(file)) visit(target, [...path, file]);
    done.add(file);
  }
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test('there are no barrels and no default exports', () => {
  expect(files.filter((file) => /[/\\]index\.ts$/.test(file))).toEqual([]);
  expect(files.filter((file) => /^export (default|\*)/m.test(texts.get(file) ?? ''))).toEqual([]);
});

test('only net/ talks to the outside', () => {
  const others = files.filter((file) => !Object.hasOwn(mayKnowTheNetwork, entryOf(file)) && !Object.hasOwn(mayKnowTheNetwork, file));
  const talking = others.filter((file) => importsOf(file).some((path) => network.test(path)) || globalClient.test(codeOf(file)));
  expect(talking).toEqual([]);
});

test('[ID-4] only those who are named open the token of a caller', () => {
  const home = 'model/inbound-token.ts';
  const opening = files.filter((file) => file !== home && /\b(openInbound|InboundText)\b/.test(codeOf(file)));
  const knowTheType = ['identity/request-exchange.ts', 'model/upstream-secret.ts'];
  expect(opening.toSorted()).toEqual([...Object.keys(mayOpenInbound), ...knowTheType].toSorted());
  const callers = opening.filter((file) => /\bopenInbound\(/.test(codeOf(file)));
  expect(callers.toSorted()).toEqual(Object.keys(mayOpenInbound).toSorted());
  // Whoever makes one had the text already: that is where tokens come in.
  const making = files.filter((file) => /\bnew InboundToken\(/.test(codeOf(file)));
  expect(making.toSorted()).toEqual(['identity/kept-principal.ts', 'identity/verify-token.ts']);
});

test('[OPS-1] OpenTelemetry is known to one folder, which is loaded only where traces are wanted', () => {
  const knowing = files.filter((file) => importsOf(file).some((path) => path.startsWith('@opentelemetry/')));
  expect(knowing.filter((file) => entryOf(file) !== 'tracing')).toEqual([]);
  const loading = new RegExp(`^import (?!type).*/(${knowing.map((file) => file.split(/[/\\\\]/).at(-1)).join('|')})'`, 'm');
  expect(files.filter((file) => entryOf(file) !== 'tracing' && loading.test(texts.get(file) ?? ''))).toEqual([]);
});

test('the wire contract loads where there is no Node', () => {
  const reached = new Set<string>(['api.ts']);
  for (const file of reached) for (const target of localImportsOf(file)) reached.add(target);
  const outside = [...reached].flatMap(importsOf).filter((path) => !path.startsWith('.'));
  expect([...new Set(outside)]).toEqual(['zod']);
});

function codeOf(file: string): string {
  return (texts.get(file) ?? '').replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
}
