export interface Shown {
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

interface Cookie {
  host: string;
  path: string;
  name: string;
  value: string;
}

const mostRedirects = 20;

/** Somebody with a browser that keeps cookies as their paths say, sends forms, and follows redirects up to an address that a client waits at. */
export class Person {
  #cookies: Cookie[] = [];
  readonly #waitsAt: readonly string[];

  constructor(...waitsAt: string[]) {
    this.#waitsAt = waitsAt;
  }

  open(url: string | URL): Promise<Shown> {
    return this.#go(String(url), { method: 'GET' });
  }

  /** Presses a button of the first form of a page. */
  submit(page: Shown, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1];
    if (action === undefined) throw new Error(`There is no form at ${page.url}: ${page.text}`);
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    const url = new URL(action.replaceAll('&amp;', '&'), page.url);
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...form });
    return this.#go(url.href, { method: 'POST', body, headers: { origin: url.origin, ...headers } });
  }

  async #go(url: string, init: RequestInit): Promise<Shown> {
    let next = { url, init };
    for (let count = 0; count < mostRedirects; count++) {
      if (this.#waitsAt.some((address) => next.url.startsWith(address)))
        return { url: next.url, status: 0, headers: new Headers(), text: '' };
      const at = new URL(next.url);
      const cookie = this.#cookies.filter(({ host, path }) => host === at.host && isBelow(at.pathname, path));
      const headers = {
        ...(next.init.headers as Record<string, string>),
        cookie: cookie.map(({ name, value }) => `${name}=${value}`).join('; '),
      };
      const response = await fetch(at, { ...next.init, headers, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) this.#keep(at, line);
      const location = response.headers.get('location');
      if (location === null) return { url: at.href, status: response.status, headers: response.headers, text: await response.text() };
      await response.body?.cancel();
      next = { url: new URL(location, at).href, init: { method: 'GET' } };
    }
    throw new Error(`${url} redirects without end`);
  }

  #keep({ host, pathname }: URL, line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /; *path=([^;]+)/i.exec(line)?.[1] ?? (pathname.slice(0, pathname.lastIndexOf('/')) || '/');
    this.#cookies = this.#cookies.filter((cookie) => cookie.host !== host || cookie.path !== path || cookie.name !== name);
    const expires = /; *expires=([^;]+)/i.exec(line)?.[1];
    const isGone = /; *max-age=0/i.test(line) || (expires !== undefined && Date.parse(expires) < Date.now());
    if (!isGone) this.#cookies.push({ host, path, name, value });
  }
}

function isBelow(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}
