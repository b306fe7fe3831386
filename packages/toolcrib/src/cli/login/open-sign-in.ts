import { createHash, randomBytes } from 'node:crypto';
import type { AuthorizationServer } from './find-authorization-server.ts';
import type { FoundResource } from './find-resource.ts';
import { excerpt } from './identify-client.ts';
import type { LoginBrowser, Page } from './login-browser.ts';
import type { LoginClient } from './login-clients.ts';
import { LoginFault } from './login-report.ts';
import { nameOf } from './read-document.ts';

interface SignInInput {
  server: AuthorizationServer;
  found: FoundResource;
  client: LoginClient;
  clientId: string;
  browser: LoginBrowser;
}

const mostRedirects = 10;

/** Sends the authorization request as a browser would, up to the page for the person. Returns what this page is. */
export async function openSignIn({ server, found, client, clientId, browser }: SignInInput): Promise<string> {
  const { redirectUri } = client;
  let url = authorizationUrl({ server, found, redirectUri, clientId });
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const page = await browser.send(url, { headers: { accept: 'text/html,application/xhtml+xml' } });
    if (page.status < 300 || page.status >= 400) return describe(page, redirectUri, clientId);
    const next = URL.parse(page.location, page.url.href);
    if (next === null) throw new LoginFault(`${nameOf(page.url)} redirects to no address`, 'look into the log of the authorization server');
    if (isAnswer(next, redirectUri)) return readAnswer(next, redirectUri);
    url = next;
  }
  throw new LoginFault(`the sign-in redirects more than ${mostRedirects} times`, 'look for a loop between the sign-in and its provider');
}

function authorizationUrl({
  server,
  found,
  redirectUri,
  clientId,
}: Omit<SignInInput, 'client' | 'browser'> & { redirectUri: string }): URL {
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(randomBytes(32).toString('base64url')).digest('base64url'),
    code_challenge_method: 'S256',
    state: randomBytes(16).toString('base64url'),
    resource: found.resource,
    ...(found.scopes.length > 0 && { scope: found.scopes.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** Whether a redirect leads back to the client. */
function isAnswer(next: URL, redirectUri: string): boolean {
  const wanted = new URL(redirectUri);
  return next.protocol === wanted.protocol && next.host === wanted.host && next.pathname === wanted.pathname;
}

function readAnswer({ searchParams }: URL, redirectUri: string): string {
  const error = searchParams.get('error');
  if (error === null && searchParams.has('code')) return 'the server let the client in without asking anybody';
  const said = searchParams.get('error_description');
  const text = `the authorization server sends the client away: ${error ?? 'without a code'}${said === null ? '' : ` (${said.slice(0, 300)})`}`;
  throw new LoginFault(text, cures[error ?? ''] ?? `look into the log of the authorization server; the client is at ${redirectUri}`);
}

const cures: Record<string, string> = {
  invalid_target: 'let the authorization server know this resource: it must be the very address, to the letter (RFC 8707)',
  invalid_scope: 'add the scopes that the resource asks for to the authorization server, and allow them to the client',
  unauthorized_client: 'allow the authorization code grant to this client',
  access_denied: 'a rule of the authorization server keeps this client out',
  invalid_request: 'read what it says: it may require or refuse a parameter',
  login_required: 'the server must show a sign-in page, and not ask for a session that is there already',
};

function describe({ status, url, contentType, text }: Page, redirectUri: string, clientId: string): string {
  if (status === 200 && contentType.includes('html')) {
    const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.replaceAll(/\s+/g, ' ').trim();
    return `${nameOf(url)} shows ${title === undefined || title === '' ? 'a page' : `“${title}”`}`;
  }
  const said = excerpt(text);
  if (status === 200)
    throw new LoginFault(`${nameOf(url)} shows no page, but ${contentType || 'nothing'}`, 'serve a page for people there');
  throw new LoginFault(
    `${nameOf(url)} answers with status ${status}: ${said}`,
    /redirect/i.test(said)
      ? `allow ${redirectUri} to this client; loopback addresses with any port (RFC 8252 §7.3)`
      : clientId.startsWith('https://')
        ? `the authorization server must be able to fetch ${clientId}, and to accept what it says`
        : /client/i.test(said)
          ? `the authorization server does not know the client ${clientId}: register it, or check its id`
          : 'read what it says, or look into the log of the authorization server',
  );
}
