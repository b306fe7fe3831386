import { z } from 'zod';
import { parseClaimRule } from '../model/claim-rule.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';

/** [ID-1] Signatures by a private key only: with HS*, anyone who can verify a token could also make one. */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const audienceSchema = z.string().min(1).max(512);
// The URL parser ignores white space and control characters that the comparison with `iss` would not.
const addressSchema = z
  .string()
  .max(2048)
  .regex(/^[\x21-\x7e]+$/, 'must not contain spaces or control characters')
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https address')
  .refine((text) => !URL.parse(text)?.username && !URL.parse(text)?.password, 'must not contain a user name or password');

const claimRuleSchema = z
  .string()
  .max(4096)
  .refine((text) => parseClaimRule(text) !== undefined, 'must be path=value, such as realm_access.roles=toolcrib-admin');

/** An issuer whose tokens are accepted, as the operator configures it. */
export const issuerConfigSchema = z
  .strictObject({
    issuer: addressSchema.describe('Exactly as in the `iss` claim'),
    audience: z.union([audienceSchema, z.array(audienceSchema).min(1).max(50)]).describe('A token must be meant for one of these'),
    jwks_uri: addressSchema.optional().describe("Where the keys are; by default as the issuer's discovery document says"),
    token_endpoint: addressSchema
      .optional()
      .describe("Where it exchanges tokens (RFC 8693); by default as the issuer's discovery document says"),
    algorithms: z.array(z.enum(signatureAlgorithms)).min(1).optional().describe('The signature algorithms to accept; by default all'),
    token_type: z.string().min(1).max(100).optional().describe('Required value of the `typ` header, such as at+jwt'),
    admin_claim: claimRuleSchema
      .optional()
      .describe(
        'Which of its users are administrators, written like --admin-claim (which is for a single issuer); none of them without it',
      ),
    run_claim: claimRuleSchema
      .optional()
      .describe('Which of these may start programs, written like --run-claim (which is for a single issuer); none of them without it'),
    name_claim: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('The claim with the display name of a user, such as upn; by default preferred_username, email or name'),
    allow_insecure: z.boolean().optional().describe('Allows plain http to another machine'),
  })
  .superRefine((config, context) => {
    for (const field of ['issuer', 'jwks_uri', 'token_endpoint'] as const) {
      const url = URL.parse(config[field] ?? '');
      if (url?.protocol === 'http:' && !config.allow_insecure && !isLoopbackHost(url.hostname)) {
        context.addIssue({ code: 'custom', path: [field], message: 'is plain http on another machine: use https, or set allow_insecure' });
      }
    }
  });
export type IssuerConfig = z.infer<typeof issuerConfigSchema>;

/** [SEC-1] The operator has named these, wherever they lead. */
export function issuerOrigins(issuers: readonly Pick<IssuerConfig, 'issuer' | 'jwks_uri' | 'token_endpoint'>[]): string[] {
  const named = issuers.flatMap(({ issuer, jwks_uri, token_endpoint }) => [issuer, jwks_uri, token_endpoint]);
  return named.filter((address) => address !== undefined);
}
