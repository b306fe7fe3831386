import type { ErrorCode } from './crib-error.ts';

export const refusalKinds = ['authentication', 'authorization'] as const;
export type RefusalKind = (typeof refusalKinds)[number];

/**
 * [SEC-4] One request that was refused at the door. Who it was is said only where a token was verified: what an unverified one claims is
 * nobody's word.
 */
export interface Refusal {
  /** UUIDv7, so refusals sort by time. */
  id: string;
  /** Epoch milliseconds. */
  at: number;
  kind: RefusalKind;
  code: ErrorCode;
  /** Why, in words of ours. */
  reason: string;
  issuer: string | null;
  subject: string | null;
  client: string | null;
  /** Where the request came from; null where several are counted together. */
  address: string | null;
  method: string | null;
  /** The pattern of the route, never the address that was asked for. */
  route: string | null;
  request_id: string | null;
  /** 1, or how many there were that were too many to be listed one by one. */
  count: number;
  /** What people call them, where a verified token said it. */
  user_name: string | null;
}
