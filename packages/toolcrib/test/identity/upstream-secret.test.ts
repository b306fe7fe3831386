import { expect, test } from 'vitest';
import { InboundToken, openInbound } from '../../src/model/inbound-token.ts';
import { upstreamSecret, type UpstreamSecret } from '../../src/model/upstream-secret.ts';
import type { UpstreamCredential, UpstreamToken } from '../../src/sources/upstream/upstream-credential.ts';

const token = new InboundToken('text', 'digest');
const scheme = 'Bearer' as const;

test('[ID-4] a caller’s token does not compile as a credential for a server', () => {
  // @ts-expect-error: not the token itself,
  const sealed: UpstreamSecret = token;
  // @ts-expect-error: nor its text,
  const opened: UpstreamSecret = openInbound(token);
  // @ts-expect-error: nor by way of what makes other texts fit,
  const made: UpstreamSecret = upstreamSecret(openInbound(token));
  // @ts-expect-error: nor any text that nobody has looked at.
  const text: UpstreamSecret = 'text';
  // @ts-expect-error: as a token that is sent,
  const sent: UpstreamToken = { accessToken: openInbound(token), scheme };
  // @ts-expect-error: or in a header.
  const inHeader: UpstreamCredential = { type: 'header', name: 'authorization', value: `Bearer ${openInbound(token)}` };
  expect([sealed, opened, made, text, sent, inHeader]).toHaveLength(6);
});

test('[ID-4] a stored or obtained credential compiles', () => {
  const stored: string = 'text';
  const sent: UpstreamToken = { accessToken: upstreamSecret(stored), scheme };
  expect(sent.accessToken).toBe('text');
});
