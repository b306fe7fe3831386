import { z } from 'zod';
import type { LoginBrowser, Page } from './login-browser.ts';
import type { LoginClient } from './login-clients.ts';
import { LoginFault, type LoginReport } from './login-report.ts';
import { readDocument } from './read-document.ts';

const metadataSchema = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()).min(1, 'names no authorization server'),
  scopes_supported: z.array(z.string()).optional(),
});

export interface FoundResource {
  resource: string;
  authorizationServer: string;
  /** What the client asks for: the scopes of the challenge, or else those of the metadata. */
  scopes: string[];
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'toolcrib-login-doctor', version: '1' } },
});

/** RFC 9728: from the address to its metadata. Undefined where no login is needed. */
export async function findResource(
  address: URL,
  client: LoginClient,
  browser: LoginBrowser,
  report: LoginReport,
): Promise<FoundResource | undefined> {
  const page = await report.step('request without a token', async () => challenged(await ask(address, browser)));
  if (page.status !== 401) {
    report.ok('request without a token', `answered with ${page.status}: this address needs no login`);
    return undefined;
  }
  const named = parameter(page.challenge, 'resource_metadata');
  if (named === undefined) {
    const seen = page.challenge === '' ? 'no WWW-Authenticate' : 'a WWW-Authenticate without resource_metadata';
    report.warn('request without a token', `401 with ${seen}`, 'send WWW-Authenticate: Bearer resource_metadata="…" (RFC 9728 §5.1)');
  } else report.ok('request without a token', `401, and ${named} is where to go on`);
  const metadata = await report.step(
    'resource metadata',
    () => metadataAt(address, named, browser),
    ({ at }) => `found at ${at}`,
  );
  const { resource, authorization_servers: servers, scopes_supported: supported = [] } = metadata.document;
  await report.step(
    'resource',
    () => compare(resource, address, client),
    () => `${resource} is ${resource === address.href ? 'the address of the client' : 'accepted by the client for its address'}`,
  );
  const asked = parameter(page.challenge, 'scope')?.split(' ').filter(Boolean);
  return { resource, authorizationServer: servers[0] ?? '', scopes: asked ?? supported };
}

async function ask(address: URL, browser: LoginBrowser): Promise<Page> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return browser.send(address, { method: 'POST', headers, body: initialize });
}

function challenged(page: Page): Page {
  const { status, location } = page;
  if (status === 401 || (status >= 200 && status < 300)) return page;
  if (status >= 300 && status < 400) {
    const target = URL.parse(location, page.url.href)?.href ?? 'somewhere';
    throw new LoginFault(`the address redirects to ${target}, and clients lose their token on the way`, `give clients ${target}`);
  }
  if (status === 404) throw new LoginFault('there is no such address (404)', 'check the path: a slash at the end matters');
  if (status === 403) throw new LoginFault('403 in place of 401', 'answer 401 with WWW-Authenticate: clients log in only then');
  throw new LoginFault(`answered with status ${status} in place of 401`, 'look into the log of the server');
}

/** From the place that the challenge names, or else RFC 9728 §3.1: with the path of the address, then at the root. */
async function metadataAt(address: URL, named: string | undefined, browser: LoginBrowser) {
  const root = new URL('/.well-known/oauth-protected-resource', address);
  const own = new URL(`${root.pathname}${address.pathname.replace(/\/$/, '')}${address.search}`, address);
  const places = named === undefined ? [...new Set([own.href, root.href])] : [named];
  for (const place of places) {
    const page = await browser.send(place);
    if (page.status === 200) return { at: place, document: readDocument(page, metadataSchema) };
    if (page.status !== 404 || named !== undefined)
      throw new LoginFault(`${place} answers with status ${page.status}`, 'serve the metadata there, without a redirect and to anybody');
  }
  throw new LoginFault(`there is no metadata at ${places.join(' or at ')}`, `serve it at ${own.href} (RFC 9728), also past a proxy`);
}

function compare(resource: string, address: URL, { comparison, title }: LoginClient): void {
  const found = URL.parse(resource);
  if (resource === address.href || (found?.href === address.href && found.pathname === '/')) return;
  if (found !== null && comparison === 'within' && isWithin(address, found)) return;
  throw new LoginFault(
    `the resource is ${resource}, but the client was given ${address.href}: ${title} stops here`,
    cureFor(found, address, resource),
  );
}

function isWithin(address: URL, { origin, pathname }: URL): boolean {
  const folder = (path: string) => (path.endsWith('/') ? path : `${path}/`);
  return origin === address.origin && folder(address.pathname).startsWith(folder(pathname));
}

function cureFor(found: URL | null, address: URL, resource: string): string {
  if (found === null) return `name the resource by its address, ${address.href}`;
  const bare = ({ pathname }: URL) => pathname.replace(/\/+$/, '');
  if (found.host === address.host && found.protocol !== address.protocol)
    return `the server believes that it is reached by ${found.protocol.slice(0, -1)}: tell it its public address (Toolcrib: --public-url)`;
  if (found.origin === address.origin && bare(found) === bare(address) && found.search === address.search)
    return `they differ in the slash at the end: give clients ${resource}, or let the metadata name ${address.href}`;
  if (found.origin !== address.origin)
    return `give clients ${resource}, or tell the server its public address (Toolcrib: --public-url ${address.origin})`;
  return `let the metadata of this address name ${address.href}`;
}

/** A parameter of a challenge, quoted or not. */
function parameter(challenge: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,]+))`, 'i').exec(challenge);
  return found?.[1] ?? found?.[2];
}
