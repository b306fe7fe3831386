import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createSteps } from '../../../src/durable/create-steps.ts';
import type { Answer, ToolOutput } from '../../../src/model/call.ts';
import { CribError } from '../../../src/model/crib-error.ts';
import { EndSwitch } from '../../../src/model/end-signal.ts';
import type { HttpOperation, HttpParameter } from '../../../src/model/http-operation.ts';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import type { DiscoveredTool, Tool } from '../../../src/model/tool.ts';
import type { CallTool } from '../../../src/sources/source-ports.ts';
import { importWorkflows } from '../../../src/sources/workflow/import-workflows.ts';
import type { ImportedDocument } from '../../../src/sources/documents/imported-document.ts';
import { createWorkflowCalls } from '../../../src/sources/workflow/workflow-calls.ts';
import { isolated } from '../../fixtures/isolated.ts';
import { startHttpServer } from '../../fixtures/http-server.ts';
import { samplePrincipal, sampleTool, toolWith } from '../../fixtures/samples.ts';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface ShopAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A real HTTP service that answers what the test says, and remembers what it was asked. */
export async function startShop(answer: (seen: Seen, count: number) => ShopAnswer) {
  const requests: Seen[] = [];
  const server = await startHttpServer((request, response) => {
    void text(request).then((body) => {
      const seen = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      requests.push(seen);
      const { status = 200, headers = {}, body: answered = {} } = answer(seen, requests.length);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answered));
    });
  });
  return { origin: server.origin, requests, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

interface OperationInput {
  id: string;
  method?: string;
  path: string;
  server?: string;
  parameters?: [name: string, place: HttpParameter['in'], required?: boolean][];
  body?: { kind: 'json' | 'form' | 'text'; type: string };
  argumentOf?: Record<string, string>;
}

/** A tool as the import of an OpenAPI document makes it. */
export function operationTool(input: OperationInput): Tool & { operation: HttpOperation } {
  const { id, method = 'GET', path, server = 'https://shop.test', parameters = [], body, argumentOf = {} } = input;
  const operation: HttpOperation = {
    operation_id: id,
    method,
    path,
    server,
    parameters: parameters.map(([name, place, required = place === 'path']) => ({
      argument: argumentOf[name] ?? name,
      name,
      in: place,
      required,
      style: 'simple',
      explode: false,
      allow_reserved: false,
      content_type: null,
    })),
    body: body === undefined ? null : { argument: 'body', required: false, content_type: body.type, kind: body.kind, encoding: {} },
    security: [],
    sends_credential: false,
    accept: 'application/json',
    pagination: null,
    poll: null,
  };
  const tool = sampleTool({ namespace: 'shop', name: id, method, path });
  const annotations = { readOnlyHint: method === 'GET', idempotentHint: method !== 'POST' };
  return { ...tool, definition: { ...tool.definition, annotations }, execution_mode: 'sync_http', operation };
}

export const json = { kind: 'json', type: 'application/json' } as const;

/** The document around workflows, in the form that needs the fewest words. */
export function arazzo(workflows: object[], extra: JsonObject = {}): string {
  const info = { title: 'Shop', version: '1.2.3' };
  return JSON.stringify({ arazzo: '1.0.1', info, sourceDescriptions: [{ name: 'shop', url: './shop.yaml' }], workflows, ...extra });
}

export function importFrom(document: string, tools: readonly Tool[]): Promise<ImportedDocument> {
  const url = new URL('https://docs.test/workflows.yaml');
  const sources = (name: string) => (name === 'shop' ? { namespace: 'shop', tools } : undefined);
  return importWorkflows({ text: document, url, sources, ...isolated });
}

/** Asks the service itself, and answers in the form that execution does. */
export function askOver(tools: readonly Tool[], refuses: readonly string[] = []): CallTool {
  let count = 0;
  return async ({ tool: id, arguments: args }) => {
    const tool = tools.find(({ tool_id }) => tool_id === id);
    if (tool?.operation == null || refuses.includes(tool.definition.name))
      throw new CribError('NOT_FOUND', 'There is no such tool for you.');
    const { operation } = tool;
    const url = new URL(
      operation.path.replaceAll(/\{(.+?)\}/g, (_, name: string) => encodeURIComponent(written(args[name]))),
      operation.server,
    );
    const headers = new Headers({ 'content-type': operation.body?.content_type ?? 'text/plain' });
    for (const { name, argument, in: place } of operation.parameters) {
      if (place === 'query' && args[argument] !== undefined) url.searchParams.set(name, written(args[argument]));
      if (place === 'header' && args[argument] !== undefined) headers.set(name, written(args[argument]));
    }
    const { body } = args;
    const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url, { method: operation.method, headers, body: sent });
    const answered = (await response.json()) as Json;
    return answerOf(tool, `call-${++count}`, response, answered);
  };
}

function written(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function answerOf(tool: Tool, call_id: string, { ok, status, headers: all }: Response, body: Json): Answer {
  const headers = Object.fromEntries(all);
  return {
    call_id,
    tool_id: tool.tool_id,
    tool: tool.name,
    success: ok,
    status: ok ? 'completed' : 'failed',
    is_error: !ok,
    content: [],
    structured_content: ok ? body : null,
    result: null,
    text: '',
    error: ok
      ? null
      : {
          code: 'SERVICE_UNAVAILABLE',
          message: `answered with ${status}`,
          origin: status < 500 ? 'tool' : 'source',
          retryable: false,
          upstream_status: status,
          details: { headers, body },
        },
    execution_time_ms: 1,
    metadata: ok ? { http: { status, headers } } : {},
  };
}

export interface RunOptions {
  callTool: CallTool;
  /** The memory of earlier runs of the same call. */
  remembered?: Map<string, string>;
  progress?: { progress: number; total?: number; message?: string }[];
  signal?: EndSwitch;
}

/** One call of a workflow, over the steps that a server has. */
export async function runTool(discovered: DiscoveredTool | undefined, args: JsonObject, options: RunOptions): Promise<ToolOutput> {
  const { callTool, remembered = new Map<string, string>(), progress = [], signal = new EndSwitch() } = options;
  const calls = createWorkflowCalls({ callTool });
  const steps = createSteps({
    records: {
      async once(name, work) {
        const known = remembered.get(name) ?? (await work());
        remembered.set(name, known);
        return known;
      },
    },
    seal: (sealed) => sealed,
    open: (sealed) => sealed,
    leaving: new AbortController().signal,
    onLeft() {},
    isLeft: () => false,
  });
  const context = {
    callId: 'call-0',
    principal: samplePrincipal(),
    signal,
    steps,
    progress: (update: { progress: number }) => void progress.push(update),
    log() {},
    elicit: async () => ({ action: 'decline' }),
  };
  try {
    const workflow = discovered?.workflow ?? null;
    return await calls.call(toolWith(sampleTool({ name: discovered?.definition.name }), { workflow }), args, context);
  } finally {
    await calls.close();
  }
}
