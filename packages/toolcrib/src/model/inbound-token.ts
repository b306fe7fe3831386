declare const inbound: unique symbol;

/** The text of a caller's token. It is no `UpstreamSecret`, and the compiler knows. */
export type InboundText = string & { readonly [inbound]: true };

let open: (token: InboundToken) => string;

/**
 * [ID-4] The token a caller came with. It cannot slip out by being printed, logged, joined to a text or turned into JSON, and nothing that
 * talks to a server can read it: what came in must not be able to go out.
 */
export class InboundToken {
  readonly #text: string;
  /** SHA-256 of the whole token: what stands for it wherever something is kept by it. */
  readonly digest: string;

  static {
    open = (token) => token.#text;
  }

  constructor(text: string, digest: string) {
    this.#text = text;
    this.digest = digest;
  }

  toString(): string {
    return '[token]';
  }

  toJSON(): string {
    return '[token]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[token]';
  }
}

/** Only for the code that gives the token back to its issuer, forwards it where a source says so, or keeps it sealed; `architecture.test.ts` names it. */
export function openInbound(token: InboundToken): InboundText {
  return open(token) as InboundText;
}
