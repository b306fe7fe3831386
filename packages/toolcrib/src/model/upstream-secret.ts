import type { InboundText } from './inbound-token.ts';

declare const upstream: unique symbol;

/** [ID-4] A text that may be sent to a server to say who speaks. Where one is wanted, neither a caller's token nor any other text fits. */
export type UpstreamSecret = string & { readonly [upstream]: true };

/** For secrets that were stored or obtained in order to be sent. A caller's token does not compile here. */
export function upstreamSecret<Text extends string>(text: Text extends InboundText ? never : Text): UpstreamSecret {
  return text as string as UpstreamSecret;
}
