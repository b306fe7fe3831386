import type { ToolOutput } from '../../../model/call.ts';
import type { JsonObject } from '../../../model/json.ts';

/** A response of the service: a success, or a redirect that was not followed. Any other status is thrown. */
export interface OperationAnswer {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** The address of the request. */
  url: string;
  output: ToolOutput;
}

/**
 * Sends one request to the operation's server, with the credential of the call and the request timeout: the operation itself, or a GET
 * within the operation's origin. Redirects are returned and not followed; any other status but 2xx is thrown as a `CribError` with
 * `upstreamStatus`.
 */
export type SendOperation = (request: { args: JsonObject } | { url: URL }) => Promise<OperationAnswer>;
