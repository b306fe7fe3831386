import type { ToolOutput } from '../../../model/call.ts';
import type { JsonObject } from '../../../model/json.ts';

/** What a service has answered: a success, or a redirect that was not followed. Everything else is thrown. */
export interface OperationAnswer {
  status: number;
  /** By name in small letters. */
  headers: Readonly<Record<string, string>>;
  /** The address that was asked. */
  url: string;
  output: ToolOutput;
}

/**
 * One exchange with the operation's server, under the credential of the call and within the time of one request: the operation itself, or a
 * GET of an address within its origin. Redirects are answers and not followed; any other status than 2xx is thrown as a `CribError` with its
 * `upstreamStatus`.
 */
export type SendOperation = (request: { args: JsonObject } | { url: URL }) => Promise<OperationAnswer>;
