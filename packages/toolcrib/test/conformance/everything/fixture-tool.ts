import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  RequestStateCodec,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { Catalogue } from './catalogue.ts';

/** What a tool or a prompt has to work with, beside its arguments. */
export interface Surroundings {
  request: ServerContext['mcpReq'];
  http: ServerContext['http'];
  /** What the client has declared: for this request, or for the session in the revisions that have sessions. */
  capabilities: ClientCapabilities;
  /** Seals what a tool wants to remember until the client comes back with answers. */
  states: RequestStateCodec;
  catalogue: Catalogue;
}

type Arguments = Record<string, string>;

export interface FixtureTool {
  description: string;
  /** Without one it takes no arguments. */
  inputSchema?: { type: 'object'; [keyword: string]: unknown };
  run(args: Arguments, surroundings: Surroundings): CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;
}

export type FixtureTools = Record<string, FixtureTool>;
