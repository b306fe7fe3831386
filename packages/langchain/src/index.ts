/** Tools of Toolcrib for LangChain and LangGraph agents. MCP servers in your own process are at `@toolcrib/langchain/local`. */
export { createToolcrib, type Toolcrib, type ToolcribOptions } from './toolcrib.ts';
export type { CribTool } from './crib-tool.ts';
export type { ToolSelection } from './list-tools.ts';
export type { ToolEvent } from './tell-events.ts';
export type { ElicitationAnswer, Question } from './tool-call.ts';
export { ToolCallError, ToolcribError, ToolNotFoundError, ValidationError } from './toolcrib-error.ts';
export type { TokenSource } from './http-client.ts';
export type { Toolset } from './toolset.ts';
