import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { HostGuardConfig } from '../http/browser-guard.ts';
import { createHostGuard } from '../http/browser-guard.ts';
import type { Handle } from '../http/plain-calls.ts';
import type { SendError } from '../http/send-error.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { addMcpDoor } from './add-mcp-door.ts';
import { createDoorService } from './door-service.ts';
import { DoorMail } from './door-mail.ts';
import type { DoorParts } from './door-parts.ts';
import { OpenStreams } from './open-streams.ts';
import { createDoorTokens, type BridgeTokens } from './door-tokens.ts';
import { createMcpLane } from './mcp-lane.ts';
import { createExplainError } from './refuse.ts';

export interface McpDoorInput {
  parts: DoorParts;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
  verifier: TokenVerifier;
  bridge?: BridgeTokens | undefined;
  /** The issuers at which clients of the door log in. */
  authorizationServers: readonly string[];
  /** Where callers reach the server, without a slash at its end. */
  publicUrl: string;
  logger: Logger;
  guard: HostGuardConfig;
  bodyLimitBytes: number;
}

export interface McpDoor {
  /** Takes what it can before the framework does. */
  lane(handle: Handle): Handle;
  /** Adds the addresses to the framework, which takes everything else. */
  add(app: FastifyInstance, sendError: SendError): void;
}

/** [DOOR-1] One service with two ways in. */
export function createMcpDoor(input: McpDoorInput): McpDoor {
  const { parts, closing } = input;
  const service = createDoorService({
    parts,
    closing,
    mail: new DoorMail(parts),
    streams: new OpenStreams(),
    explain: createExplainError(input.logger),
  });
  const guard = createHostGuard(input.guard);
  const tokens = createDoorTokens(input);
  return {
    lane: (handle) => createMcpLane({ ...input, service, tokens, guard }, handle),
    add: (app, sendError) => addMcpDoor(app, { ...input, service, tokens, sendError }),
  };
}
