import type { CpuProfile, ProfileNode } from './cpu-profile.ts';

export const unclassified = 'not classified';

/** The parts of a call, in the order of the table. */
export const parts = [
  'HTTP in',
  'MCP door',
  'write to the client',
  'token',
  'admission, policy, limits',
  'validation',
  'execution and lifecycle',
  'MCP out',
  'write to the server behind',
  'MCP in',
  'HTTP out',
  'shaping',
  'record',
  'metrics, log, traces',
  'streams and events',
  'promises and timers',
  'garbage collector',
  'native, outside JavaScript',
  unclassified,
] as const;

export type Part = (typeof parts)[number];

interface Rule {
  part: Part;
  /** Of the file's address. */
  file: RegExp;
  /** Of the function, where a file does more than one thing. */
  name?: RegExp;
}

const own = (path: string) => new RegExp(`/toolcrib/(src|dist)/${path}`);
const dependency = (names: string) => new RegExp(`/node_modules/(${names})/`);

/** The first that fits decides: by folder where possible, so that the rules survive when files move or are renamed. */
const rules: readonly Rule[] = [
  { part: 'metrics, log, traces', file: dependency('prom-client|tdigest|pino|sonic-boom|thread-stream|@opentelemetry/[^/]+') },
  { part: 'metrics, log, traces', file: own(String.raw`(tracing/|[^?]*metrics|[^?]*-traces?\.|[^?]*-span\.)`) },
  { part: 'validation', file: dependency('ajv|ajv-formats|zod|re2js|fast-uri|fast-deep-equal') },
  { part: 'validation', file: own('(validation|api)/') },
  { part: 'HTTP in', file: dependency('fastify|find-my-way|avvio|secure-json-parse|fast-json-stringify|fast-querystring|@fastify/[^/]+') },
  { part: 'HTTP out', file: dependency('undici') },
  { part: 'HTTP out', file: own('net/') },
  { part: 'token', file: own('identity/') },
  { part: 'token', file: dependency('jose') },
  { part: 'record', file: own(String.raw`(store/|durable/|[^?]*(record|journal))`) },
  { part: 'record', file: dependency('kysely|pg|pg-[^/]+') },
  { part: 'record', file: /^node:sqlite/ },
  {
    part: 'shaping',
    file: own(String.raw`(secrets/|text/|execution/(shaper|format|cut|artifact|answer|outcome|failure|kept|sealed|seal))`),
  },
  { part: 'shaping', file: own(String.raw`sources/[^?]*(redact|call-result)`) },
  { part: 'admission, policy, limits', file: own('(policy|inventory|resilience)/') },
  { part: 'admission, policy, limits', file: own(String.raw`execution/(admission|turns|origin|acceptance|catalogue|no-such)`) },
  { part: 'execution and lifecycle', file: own('(execution|supervision|threads)/') },
  { part: 'MCP in', file: own('sources/mcp/'), name: /read|receive|deliver|incoming|inbox|settle|answered|data|message|chunk|line/i },
  { part: 'MCP in', file: own(String.raw`sources/mcp/[^?]*(reader|inbox)`) },
  { part: 'MCP out', file: own('sources/') },
  { part: 'MCP out', file: dependency('@modelcontextprotocol/[^/]+') },
  { part: 'write to the client', file: /^node:_http_outgoing/, name: /send|write|end|flush|finish|cork|header/i },
  { part: 'write to the client', file: /^node:_http_server/, name: /write|finish|header/i },
  { part: 'MCP door', file: own('mcp-door/') },
  { part: 'HTTP in', file: /^node:(_http_|internal\/http)/ },
  { part: 'HTTP in', file: own('http/') },
  { part: 'execution and lifecycle', file: own(String.raw`[\w-]+\.[tj]s$`) },
];

/** For what no part has called: Node's own machinery. */
const machinery: readonly Rule[] = [
  { part: 'metrics, log, traces', file: /^node:internal\/perf/ },
  { part: 'promises and timers', file: /^node:(internal\/(process\/task_queues|timers|promises|async_|abort)|timers|async_hooks)/ },
  {
    part: 'streams and events',
    file: /^node:(net|events|stream|buffer|child_process|internal\/(stream|event|streams|buffer|child_process|util))/,
  },
];

/** Functions of the system that have no file. What they cost belongs to whoever calls them, but writes are shown apart. */
const socketWrites = /^(writev|writeBuffer|writeUtf8String|writeLatin1String|writeAsciiString|writeUcs2String)$/;
const bySystemName = new Map<string, Part>([
  ['(garbage collector)', 'garbage collector'],
  ['(program)', 'native, outside JavaScript'],
  ['runMicrotasks', 'promises and timers'],
]);
const toServers: ReadonlySet<Part | undefined> = new Set(['MCP out', 'MCP in', 'HTTP out']);

export interface Attribution {
  /** Samples of each part. */
  parts: Map<Part, number>;
  /** Samples of the functions that no rule knows. */
  unknown: Map<string, number>;
}

/**
 * Counts the samples of each part, by the function that ran. Idle ones are left out. The time between samples says nothing: it
 * includes the time in which another process had the core.
 */
export function attribute({ nodes, samples }: CpuProfile): Attribution {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const found = new Map<number, Part | 'idle'>();
  const totals: Attribution = { parts: new Map(), unknown: new Map() };
  for (const id of samples) {
    const node = byId.get(id);
    if (node === undefined) continue;
    const part = found.get(id) ?? partOf(node, parents);
    found.set(id, part);
    if (part === 'idle') continue;
    totals.parts.set(part, (totals.parts.get(part) ?? 0) + 1);
    if (part !== unclassified) continue;
    const { functionName, url } = node.callFrame;
    const name = `${functionName || '(anonymous)'} ${url}`.trim();
    totals.unknown.set(name, (totals.unknown.get(name) ?? 0) + 1);
  }
  return totals;
}

/** The part of the nearest caller that a rule knows, the function itself included. */
function partOf(node: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): Part | 'idle' {
  const { functionName } = node.callFrame;
  if (functionName === '(idle)') return 'idle';
  const systemPart = bySystemName.get(functionName);
  if (systemPart !== undefined) return systemPart;
  const stack: ProfileNode[] = [];
  for (let place: ProfileNode | undefined = node; place !== undefined; place = parents.get(place.id)) stack.push(place);
  const caller = firstPart(stack, rules);
  if (socketWrites.test(functionName) && caller !== 'record') {
    return toServers.has(caller) ? 'write to the server behind' : 'write to the client';
  }
  return caller ?? generated(stack) ?? firstPart(stack, machinery) ?? unclassified;
}

function firstPart(stack: readonly ProfileNode[], among: readonly Rule[]): Part | undefined {
  for (const { callFrame } of stack) {
    const rule = among.find(({ file, name }) => file.test(callFrame.url) && name?.test(callFrame.functionName) !== false);
    if (rule !== undefined) return rule.part;
  }
  return undefined;
}

/** Compiled schemas have no file. */
function generated(stack: readonly ProfileNode[]): Part | undefined {
  return stack.some(({ callFrame }) => callFrame.url === '' && /^validate\d*$/.test(callFrame.functionName)) ? 'validation' : undefined;
}
