import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export type Era = 'legacy' | 'modern';

interface ConnectOptions {
  url: string;
  era: Era;
  token: string;
  /** Of the client, beside forms. */
  capabilities?: Record<string, object>;
  /** Where to send a request that is meant for this address, in place of a balancer. */
  route?(url: string, method: string): string;
}

/** The official client, as anybody would use it. */
export async function connectToDoor({ url, era, token, capabilities = { elicitation: { form: {} } }, route = (to) => to }: ConnectOptions) {
  const credential = { token };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    async fetch(input, init) {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${credential.token}`);
      return fetch(route(String(input), init?.method ?? 'GET'), { ...init, headers });
    },
  });
  const pin = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
  const client = new Client({ name: 'a-client', version: '1.2.3' }, { capabilities, ...(era === 'modern' && pin) });
  return { client, transport, credential, connect: () => client.connect(transport), [Symbol.asyncDispose]: () => client.close() };
}
