import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { callerAddress } from '../http/caller-address.ts';
import { parseJsonBody } from '../http/read-request.ts';
import type { BridgeTokens } from './bridge-tokens.ts';
import { ClientMetadataError } from './client-metadata.ts';
import type { RegisterClient } from './client-registration.ts';
import { allowAnyOrigin, answerPreflight } from './cross-origin.ts';
import type { LoginGrants } from './login-grants.ts';
import { refuse } from './refuse.ts';

interface ClientRoutesInput {
  provider: () => Provider;
  /** Undefined where clients may not register themselves. */
  register: RegisterClient | undefined;
  tokens: Pick<BridgeTokens, 'isOurs' | 'read'>;
  grants: Pick<LoginGrants, 'end'>;
  /** Refuses what comes too often, or under a host that is not ours. */
  admit(request: FastifyRequest): void;
  /** Refuses registrations that come too often. */
  admitClient(request: FastifyRequest): void;
  onFault(error: unknown): void;
}

const config = { guarded: false, anyOrigin: true };
const bodyLimit = 16_384;

/** [LOGIN-3] What clients ask of us and not of the library: to be registered, and to end what they were given. */
export function addClientRoutes(scope: FastifyInstance, input: ClientRoutesInput): void {
  const { register } = input;
  if (register !== undefined) addRegistration(scope, { ...input, register });
  addRevocation(scope, input);
}

function addRegistration(scope: FastifyInstance, input: ClientRoutesInput & { register: RegisterClient }): void {
  const url = '/login/register';
  scope.options(url, { config }, (request, reply) => answerPreflight(request, reply));
  scope.post(url, { config, bodyLimit }, async (request, reply) => {
    allowAnyOrigin(reply);
    try {
      input.admit(request);
      input.admitClient(request);
      const body = parseJsonBody(typeof request.body === 'string' ? request.body : '');
      return await reply.code(201).send(await input.register(body, callerAddress(request)));
    } catch (error) {
      if (error instanceof ClientMetadataError) return reply.code(400).send({ error: error.code, error_description: error.message });
      refuse(reply, error, input.onFault);
      return reply;
    }
  });
}

/** RFC 7009. Whoever has a token and knows whose it is may end it: with it ends the grant, and everything that was given out for it. */
function addRevocation(scope: FastifyInstance, { provider, tokens, grants, admit, onFault }: ClientRoutesInput): void {
  const url = '/login/revoke';
  scope.options(url, { config }, (request, reply) => answerPreflight(request, reply));
  scope.post(url, { config, bodyLimit }, async (request, reply) => {
    allowAnyOrigin(reply);
    try {
      admit(request);
      const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
      const token = form.get('token');
      const client = form.get('client_id');
      if (token === null || client === null) {
        const error_description = 'Send the token, and the client_id to which it was given';
        return await reply.code(400).send({ error: 'invalid_request', error_description });
      }
      const found = tokens.isOurs(token) ? await tokens.read(token) : await provider().RefreshToken.find(token);
      // The answer is the same for tokens that are unknown, of somebody else, or over.
      if (found?.grantId !== undefined && found.clientId === client) await grants.end(found.grantId, 'the client has revoked it');
      return await reply.code(200).send('');
    } catch (error) {
      refuse(reply, error, onFault);
      return reply;
    }
  });
}
