import { ownIssuer, type Principal } from '../model/principal.ts';

/** Who brings the demos of development along and puts them to rest, for the record. */
export const developmentActor: Principal = {
  issuer: ownIssuer,
  subject: 'development',
  name: null,
  key: `${ownIssuer} development`,
  client: null,
  claims: {},
  expiresAt: Number.POSITIVE_INFINITY,
  token: null,
};
