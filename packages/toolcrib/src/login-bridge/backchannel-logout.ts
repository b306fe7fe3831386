import type { FastifyInstance, FastifyRequest } from 'fastify';
import { jwtVerify, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import type { Store } from '../store/store.ts';
import type { LoginGrants } from './login-grants.ts';

interface BackchannelLogoutInput {
  issuer: string;
  /** What the provider calls Toolcrib. */
  clientId: string;
  verifier: TokenVerifier;
  store: Store;
  grants: Pick<LoginGrants, 'end'>;
  now: () => number;
  admit(request: FastifyRequest): void;
}

const event = 'http://schemas.openid.net/event/backchannel-logout';
const claimsSchema = z
  .looseObject({
    sub: z.string().min(1).optional(),
    sid: z.string().min(1).optional(),
    events: z.looseObject({ [event]: z.looseObject({}) }),
    nonce: z.never().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);
const oldestSeconds = 300;

/**
 * [LOGIN-5] OpenID Connect Back-Channel Logout 1.0: the provider says at once that somebody has signed out. A token that comes again ends what
 * has ended before.
 */
export function addBackchannelLogout(scope: FastifyInstance, input: BackchannelLogoutInput): void {
  const { issuer, clientId, verifier, store, grants, now, admit } = input;

  async function verified(token: string) {
    const trusted = verifier.issuerOf(issuer);
    if (trusted === undefined) throw new CribError('VALIDATION_ERROR', 'The issuer is not known');
    const { payload } = await jwtVerify(token, trusted.keySet as JWTVerifyGetKey, {
      issuer,
      audience: clientId,
      algorithms: trusted.algorithms,
      requiredClaims: ['iat', 'jti'],
      maxTokenAge: oldestSeconds,
      clockTolerance: 30,
      currentDate: new Date(now()),
    });
    return claimsSchema.parse(payload);
  }

  scope.post('/login/backchannel-logout', { config: { guarded: false }, bodyLimit: 16_384 }, async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    try {
      admit(request);
      const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
      const { sub, sid } = await verified(form.get('logout_token') ?? '');
      const owner = sub === undefined ? {} : { owner: `${issuer} ${sub}` };
      const ending = await store.loginGrants.listOf({ ...owner, ...(sid === undefined ? {} : { session: sid }) });
      for (const { id } of ending) await grants.end(id, 'the person has signed out at the provider');
      return await reply.code(200).send('');
    } catch (error) {
      const error_description = error instanceof CribError ? error.message : 'The logout_token cannot be verified, or is none';
      return reply.code(400).send({ error: 'invalid_request', error_description });
    }
  });
}
