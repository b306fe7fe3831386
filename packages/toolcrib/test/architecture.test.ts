import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** The line of the source in data order: each entry imports only itself and entries before it. */
const order = [
  'demo',
  'text',
  'model',
  'resilience',
  'isolation',
  'threads',
  'store',
  'durable',
  'secrets',
  'net',
  'tracing',
  'identity',
  'policy',
  'validation',
  'sources',
  'supervision',
  'inventory',
  'execution',
  'administration',
  'version.ts',
  'crib-config.ts',
  'open-storage.ts',
  'open-upstream.ts',
  'open-sources.ts',
  'open-execution.ts',
  'open-administration.ts',
  'crib.ts',
  'mcp-service.ts',
  'api',
  'api.ts',
  'http',
  'login-bridge',
  'mcp-door',
  'development',
  'server',
  'cli',
  'index.ts',
  'main.ts',
];

/** The same inside `sources/`. The folders with a `source-type.ts` are the kinds: each stands where it says so, and knows no other kind. */
const orderOfSources = [
  'source.ts',
  'upstream',
  'open-source.ts',
  'source-ports.ts',
  'registration',
  'source-type.ts',
  'documents',
  'each kind',
  'registry.ts',
  'source-forms.ts',
  'source-registrations.ts',
  'open-kinds.ts',
  'import',
];

/** [SEC-1] Everything goes out through `net/`. Others may know these modules for what is said here, and for nothing else. */
const mayKnowTheNetwork: Record<string, string> = {
  net: 'the one guarded way out',
  http: 'serves: it listens for requests; threads pass them on to their own process, and nothing else is asked',
  'mcp-door': 'serves: it answers requests, and asks nobody but the client',
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

const kinds = files.flatMap((file) => /^sources\/([^/]+)\/source-type\.ts$/.exec(file.replaceAll('\\', '/'))?.[1] ?? []);
const withinSources = (file: string) => /^sources[/\\]([^/\\]+)/.exec(file)?.[1];
const placeInSources = (entry: string) => orderOfSources.indexOf(kinds.includes(entry) ? 'each kind' : entry);

test('each file of sources/ imports only its own entry and those before it, and kinds of source do not know each other', () => {
  expect(kinds.length).toBeGreaterThan(3);
  const wrong = files.flatMap((file) => {
    const here = withinSources(file);
    if (here === undefined) return [];
    const targets = localImportsOf(file).filter((target) => {
      const there = withinSources(target);
      return there !== undefined && there !== here && placeInSources(there) >= placeInSources(here);
    });
    return [
      ...(placeInSources(here) < 0 ? [`${file} is nowhere in the order`] : []),
      ...targets.map((target) => `${file} imports ${target}`),
    ];
  });
  expect(wrong).toEqual([]);
});

test('no two folders import each other, at any level', () => {
  const edges = new Map<string, string>();
  for (const file of files) {
    for (const target of localImportsOf(file)) {
      const [from = [], to = []] = [file, target].map((path) => path.split(/[/\\]/).slice(0, -1));
      const shared = from.findIndex((part, index) => part !== to[index]);
      // One holds the other: what stands in a folder may use what is below it, and the other way round.
      if (shared < 0 || to[shared] === undefined) continue;
      const level = from.slice(0, shared).join('/');
      edges.set(`${level}: ${from[shared]} -> ${to[shared]}`, `${file} imports ${target}`);
    }
  }
  const mutual = [...edges].filter(([edge]) => {
    const [, level, from, to] = /^(.*): (.*) -> (.*)$/.exec(edge) ?? [];
    return edges.has(`${level}: ${to} -> ${from}`);
  });
  expect(mutual.map(([, example]) => example)).toEqual([]);
});

test('nobody but its kind and the registry asks which kind a source is', () => {
  const asking = /\bsource_type\b\s*(?:===|!==)|(?:===|!==)\s*[\w.?]*\bsource_type\b|switch \([^)]*source_type/;
  const byKind = new RegExp(`^sources[/\\\\](?:${kinds.join('|')})[/\\\\]source-type\\.ts$`);
  const others = files.filter((file) => !byKind.test(file));
  const lines = others.flatMap((file) =>
    codeOf(file)
      .split('\n')
      // Whether two sources are of the same kind is asked without knowing which.
      .filter((line) => asking.test(line) && !/source_type\s*(===|!==)\s*[\w.]*source_type/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lines).toEqual([]);
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

test('[ID-4] only the listed files open the token of a caller', () => {
  const home = 'model/inbound-token.ts';
  const opening = files.filter((file) => file !== home && /\b(openInbound|InboundText)\b/.test(codeOf(file)));
  const knowTheType = ['identity/request-exchange.ts', 'model/upstream-secret.ts'];
  expect(opening.toSorted()).toEqual([...Object.keys(mayOpenInbound), ...knowTheType].toSorted());
  const callers = opening.filter((file) => /\bopenInbound\(/.test(codeOf(file)));
  expect(callers.toSorted()).toEqual(Object.keys(mayOpenInbound).toSorted());
  // Whoever makes one had the text already: that is where tokens come in.
  const making = files.filter((file) => /\bnew InboundToken\(/.test(codeOf(file)));
  expect(making.toSorted()).toEqual(['identity/kept-principal.ts', 'identity/verify-token.ts', 'login-bridge/provider-principal.ts']);
});

test('[OPS-1] one folder imports OpenTelemetry, and it is loaded only when traces are wanted', () => {
  const knowing = files.filter((file) => importsOf(file).some((path) => path.startsWith('@opentelemetry/')));
  expect(knowing.filter((file) => entryOf(file) !== 'tracing')).toEqual([]);
  const loading = new RegExp(`^import (?!type).*/(${knowing.map((file) => file.split(/[/\\\\]/).at(-1)).join('|')})'`, 'm');
  expect(files.filter((file) => entryOf(file) !== 'tracing' && loading.test(texts.get(file) ?? ''))).toEqual([]);
});

test('the wire contract loads without Node', () => {
  const reached = new Set<string>(['api.ts']);
  for (const file of reached) for (const target of localImportsOf(file)) reached.add(target);
  const outside = [...reached].flatMap(importsOf).filter((path) => !path.startsWith('.'));
  expect([...new Set(outside)]).toEqual(['zod']);
});

function codeOf(file: string): string {
  return (texts.get(file) ?? '').replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
}
