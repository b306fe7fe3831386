import type { Egress } from '../../net/egress.ts';
import { readBody } from '../../net/read-body.ts';

export interface Page {
  status: number;
  url: URL;
  /** Where a redirect leads. */
  location: string;
  contentType: string;
  challenge: string;
  text: string;
}

interface Sending {
  method?: 'GET' | 'POST' | 'DELETE';
  headers?: Record<string, string>;
  body?: string;
}

/** Sends single requests as a client and a browser do. Redirects are for the caller to look at. */
export interface LoginBrowser {
  send(url: string | URL, sending?: Sending): Promise<Page>;
}

const maxBytes = 1_048_576;
const timeoutMs = 15_000;
const mostCookies = 50;

/** Bounded in time and size; cookies go back to the origin that set them, and to no other. */
export function createLoginBrowser(egress: Egress): LoginBrowser {
  const jar = new Map<string, Map<string, string>>();

  function keep(origin: string, setCookie: string | string[] | undefined): void {
    const cookies = jar.get(origin) ?? new Map<string, string>();
    for (const line of [setCookie ?? []].flat().slice(0, mostCookies)) {
      const [, name = '', value = ''] = /^([^=;\s]+)=([^;]*)/.exec(line) ?? [];
      if (name !== '' && cookies.size < mostCookies) cookies.set(name, value);
    }
    jar.set(origin, cookies);
  }

  return {
    async send(address, { method = 'GET', headers = {}, body } = {}) {
      const url = egress.checkAddress(address, false);
      const client = egress.httpClient({ origin: url.origin, maxConnections: 1 });
      const cookie = [...(jar.get(url.origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
      try {
        const response = await client.request({
          method,
          url,
          headers: { 'user-agent': 'toolcrib-login-doctor', accept: '*/*', ...(cookie !== '' && { cookie }), ...headers },
          ...(body !== undefined && { body }),
          followRedirects: false,
          signal: AbortSignal.timeout(timeoutMs),
        });
        keep(url.origin, response.headers['set-cookie']);
        return {
          status: response.status,
          url,
          location: response.header('location'),
          contentType: response.header('content-type'),
          challenge: response.header('www-authenticate'),
          text: await readBody(response, maxBytes),
        };
      } finally {
        await client.destroy();
      }
    },
  };
}
