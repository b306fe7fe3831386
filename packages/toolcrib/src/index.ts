/** Toolcrib as a library: the crib without interfaces, the server, and their types and errors. */
export type { CribConfig } from './crib-config.ts';
export { openCrib, type Crib } from './crib.ts';
export {
  openMcpService,
  type McpCallEvent,
  type McpCallOptions,
  type McpImported,
  type McpServer,
  type McpService,
  type McpStatus,
  type McpUpdate,
} from './mcp-service.ts';
export type { ImportOptions, ImportOutcome } from './administration/import-sources.ts';
export { formatForModel } from './execution/format-for-model.ts';
export { startServer, type RunningServer } from './server/start-server.ts';
export type { ServeConfig } from './server/server-config.ts';
export { CribError, httpStatusByCode, type ErrorCode } from './model/crib-error.ts';
export {
  ConnectionError,
  ProtocolError,
  TimeoutError,
  ToolCallError,
  ToolNotFoundError,
  TransportError,
  ValidationError,
} from './model/named-errors.ts';
export type { Answer, CallRecord, ContentBlock, ToolOutput } from './model/call.ts';
export type { Origin } from './model/origin.ts';
export type { Group, Matcher, Policy } from './model/policy.ts';
export type { Principal } from './model/principal.ts';
export type { Tool, ToolDefinition } from './model/tool.ts';
export type { McpRegistrationInput } from './sources/mcp/registration/forms.ts';
