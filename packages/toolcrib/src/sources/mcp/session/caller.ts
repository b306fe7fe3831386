import type { ToolOutput } from '../../../model/call.ts';
import type { JsonObject } from '../../../model/json.ts';
import { outputFromContents, outputFromResult, outputFromRpcError } from './call-result.ts';
import type { Catalogue } from './catalogue.ts';
import { completeRequest } from './complete-request.ts';
import type { Exchange } from './exchange.ts';
import { paramHeaders } from './param-headers.ts';
import type { Requests } from './requests.ts';
import { resourcePrefix } from './resource-tools.ts';
import { RpcError, SessionLostError } from './session-errors.ts';

/** SEP-2243: the headers do not repeat the parameters as the server's schema wants it. It refuses before it does anything. */
const headerMismatch = -32_020;
/** The server has stopped speaking the revision that was agreed on. */
const unsupportedVersion = -32_022;

interface CallerInput {
  requests: Requests;
  /** Whether parameters may have to be repeated in headers: the stateless revision over HTTP. */
  perHttpHeaders: boolean;
  offersResources: boolean;
  /** What the server offers; read now where it has not been, or anew. */
  catalogue(options: { resources: boolean; anew: boolean }, exchange: Exchange): Promise<Catalogue>;
  known(): Catalogue | undefined;
}

/** Calls one tool, which may be a resource under a tool's name. */
export function createCaller({ requests, perHttpHeaders, offersResources, catalogue, known }: CallerInput) {
  function complete(method: string, params: JsonObject, exchange: Exchange, headers?: Record<string, string>): Promise<JsonObject> {
    if (requests.envelope === undefined) return requests.send(method, params, exchange);
    return completeRequest(requests, method, params, exchange, headers);
  }

  function callTool(name: string, args: JsonObject, exchange: Exchange): Promise<JsonObject> {
    const params = { name, arguments: args };
    return perHttpHeaders ? callWithHeaders(params, exchange) : complete('tools/call', params, exchange);
  }

  async function callWithHeaders(params: { name: string; arguments: JsonObject }, exchange: Exchange): Promise<JsonObject> {
    const { name, arguments: args } = params;
    const headers = () => paramHeaders(known()?.headers.get(name) ?? [], args);
    try {
      return await complete('tools/call', params, exchange, headers());
    } catch (error) {
      if (!(error instanceof RpcError) || error.rpcCode !== headerMismatch) throw error;
      await catalogue({ resources: false, anew: true }, exchange);
      return complete('tools/call', params, exchange, headers());
    }
  }

  /** A server's own tool may be called like a resource, and then it is meant. */
  async function uriOf(name: string, args: JsonObject, exchange: Exchange): Promise<string | undefined> {
    const { uris } = await catalogue({ resources: true, anew: false }, exchange);
    return uris.get(name)?.(args);
  }

  return async (name: string, args: JsonObject, exchange: Exchange): Promise<ToolOutput> => {
    try {
      const mayBeResource = offersResources && name.startsWith(resourcePrefix);
      const uri = mayBeResource ? await uriOf(name, args, exchange) : undefined;
      if (uri !== undefined) return outputFromContents(await complete('resources/read', { uri }, exchange));
      return outputFromResult(await callTool(name, args, exchange));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.rpcCode !== unsupportedVersion) return outputFromRpcError(error);
      throw new SessionLostError('The server has changed to another revision of the protocol', { mayHaveRun: false, cause: error });
    }
  };
}
