import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import type { Catalogue } from './catalogue.ts';
import { followCatalogue } from './follow-catalogue.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { registerTools } from './tools.ts';

const states = createRequestStateCodec({ key: randomBytes(32) });

export interface ServerOptions {
  catalogue: Catalogue;
  /** Whether it stays, and tells its client about changes. One that serves a single request does not. */
  stays: boolean;
}

/**
 * The server with everything that the conformance suites look for: for one session, or for one request of the revision without sessions.
 * Every behaviour is written once, for both.
 */
export function createServer({ catalogue, stays }: ServerOptions): McpServer {
  const capabilities = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
    logging: {},
  };
  const info = { name: 'toolcrib-everything', version: '1.0.0' };
  const server = new McpServer(info, { capabilities, instructions: 'For conformance tests.', requestState: { verify: states.verify } });
  const extras = { tools: registerTools(server, { states, catalogue }), prompts: registerPrompts(server) };
  registerResources(server);
  for (const kind of ['tools', 'prompts'] as const) if (!catalogue.hasExtra(kind)) extras[kind].disable();
  if (stays) followCatalogue(server, catalogue, extras);
  return server;
}
