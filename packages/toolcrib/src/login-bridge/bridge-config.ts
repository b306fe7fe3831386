import { z } from 'zod';
import { redirectRefusal } from './redirect-policy.ts';

const name = z.string().min(1).max(256);
const word = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** A client that the operator lets in by name, for programs that can neither register nor publish a document of metadata. */
const fixedClientSchema = z.strictObject({
  client_id: name.regex(/^[\x21-\x7e]+$/, 'must not contain spaces').describe('What the client sends as its client_id'),
  name: z.string().min(1).max(100).describe('What the consent page calls it'),
  redirect_uris: z
    .array(
      z
        .string()
        .max(2048)
        .superRefine((uri, context) => {
          const refusal = redirectRefusal(uri);
          if (refusal !== undefined) context.addIssue({ code: 'custom', message: refusal });
        }),
    )
    .min(1)
    .max(20)
    .describe('Where it may be sent back to. An http address of this machine stands for every port'),
});
export type FixedClient = z.infer<typeof fixedClientSchema>;

/** [LOGIN-3] The login bridge, as the operator configures it. */
export const loginBridgeSchema = z
  .strictObject({
    issuer: z.string().min(1).max(2048).optional().describe('Which of the configured issuers signs people in; by default the only one'),
    client_id: name.describe('What the provider calls Toolcrib'),
    client_secret_file: z.string().min(1).max(4096).optional().describe('A file with the client secret'),
    client_secret_env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
      .optional()
      .describe('The environment variable with the client secret'),
    client_secret_ref: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('The secret of Toolcrib with the client secret: `toolcrib secrets set`'),
    private_key_file: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .describe('A PEM file with a private key (PKCS #8) that authenticates Toolcrib in place of a secret (private_key_jwt)'),
    private_key_id: name.optional().describe('What the provider calls that key (`kid`)'),
    private_key_algorithm: z.enum(['RS256', 'PS256', 'ES256', 'EdDSA']).optional().describe('By default RS256'),
    scopes: z
      .array(z.string().max(200).regex(word, 'must not contain spaces'))
      .min(1)
      .max(50)
      .optional()
      .describe('What the provider is asked for; by default `openid`. Some providers give a refresh token with `offline_access` only'),
    parameters: z
      .record(z.string().min(1).max(100), z.string().max(1000))
      .optional()
      .describe('Further parameters of the authorization request, such as the `audience` that some providers want'),
    principal_from: z
      .enum(['access_token', 'id_token'])
      .optional()
      .describe(
        'Which token says who the person is; by default the access token. `id_token` is for providers whose access tokens are opaque or meant for others',
      ),
    clients: z.array(fixedClientSchema).max(100).optional().describe('Clients with a fixed client_id'),
    registration: z.boolean().optional().describe('Whether clients may register themselves (RFC 7591); by default they may'),
    client_documents: z
      .boolean()
      .optional()
      .describe(
        'Whether clients may name a metadata document as their client_id; by default they may. Say false where this server cannot fetch such documents: clients then register themselves',
      ),
    access_token_seconds: z.int().min(60).max(3600).optional().describe('How long the tokens that clients get last; by default 600'),
    idle_days: z.int().min(1).max(365).optional().describe('After how many days without use a login ends; by default 30'),
    recheck_seconds: z
      .int()
      .min(2)
      .max(300)
      .optional()
      .describe('How long a logout at the provider may go unnoticed; by default 300, which is also the longest'),
  })
  .superRefine((config, context) => {
    const given = (['client_secret_file', 'client_secret_env', 'client_secret_ref', 'private_key_file'] as const).filter(
      (field) => config[field] !== undefined,
    );
    if (given.length > 1)
      context.addIssue({ code: 'custom', path: [given[1] ?? ''], message: `does not go with ${given[0]}: give one of them` });
    if (config.private_key_file === undefined && (config.private_key_id ?? config.private_key_algorithm) !== undefined)
      context.addIssue({ code: 'custom', path: ['private_key_id'], message: 'needs private_key_file' });
    const ids = (config.clients ?? []).map(({ client_id }) => client_id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined) context.addIssue({ code: 'custom', path: ['clients'], message: `has ${twice} twice` });
    if (config.scopes !== undefined && !config.scopes.includes('openid'))
      context.addIssue({ code: 'custom', path: ['scopes'], message: 'must include openid' });
  });
export type LoginBridgeConfig = z.infer<typeof loginBridgeSchema>;

/** How long the things of the bridge last. */
export interface BridgeTimes {
  readonly accessTokenSeconds: number;
  readonly idleDays: number;
  /** [LOGIN-5] How long a logout at the provider may go unnoticed. */
  readonly recheckMs: number;
}

export function bridgeTimes({
  access_token_seconds = 600,
  idle_days = 30,
  recheck_seconds = 300,
}: Partial<LoginBridgeConfig>): BridgeTimes {
  return { accessTokenSeconds: access_token_seconds, idleDays: idle_days, recheckMs: recheck_seconds * 1000 };
}
