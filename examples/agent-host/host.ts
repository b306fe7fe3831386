import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { runAgent } from './agent.ts';
import { createLogoutTokenReader } from './logout-token.ts';
import { askPage, signInPage } from './pages.ts';
import { createSignIn, SignedOut } from './sign-in.ts';
import { createToolcribClient } from './toolcrib-client.ts';
import { UserSession } from './user-session.ts';

export interface HostOptions {
  issuer: string;
  clientId: string;
  toolcribUrl: string;
  /** Where browsers reach this application, such as `http://127.0.0.1:7420`. */
  ownUrl: string;
}

const mostForm = 16_384;
const mostPending = 1000;

/** The host application: signs users in, keeps their sessions, and lets an agent work for them. */
export async function createHost({ issuer, clientId, toolcribUrl, ownUrl }: HostOptions): Promise<RequestListener> {
  const signIn = await createSignIn({ issuer, clientId });
  const readLogoutToken = createLogoutTokenReader({ issuer, clientId });
  const sessions = new Map<string, UserSession>();
  const pending = new Map<string, Awaited<ReturnType<typeof signIn.begin>>['pending']>();

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<unknown>> = {
    async 'GET /'(request, response) {
      const session = sessions.get(cookieOf(request, 'session'));
      page(response, session === undefined ? signInPage() : askPage(session.username));
    },

    async 'GET /login'(_request, response) {
      const begun = await signIn.begin(`${ownUrl}/callback`);
      const id = newId();
      pending.set(id, begun.pending);
      // Users who leave without signing in leave an entry behind: the oldest make room.
      for (const oldest of pending.keys()) if (pending.size > mostPending) pending.delete(oldest);
      redirect(response, begun.url, cookie('sign_in', id));
    },

    async 'GET /callback'(request, response) {
      const id = cookieOf(request, 'sign_in');
      const begun = pending.get(id);
      pending.delete(id);
      if (begun === undefined) return redirect(response, ownUrl);
      const session = new UserSession(signIn, await signIn.finish(new URL(request.url ?? '', ownUrl), begun));
      // A new session id that nobody can have known: a cookie planted in the browser is worthless.
      const sessionId = newId();
      sessions.set(sessionId, session);
      redirect(response, ownUrl, cookie('session', sessionId));
    },

    async 'POST /ask'(request, response) {
      const id = cookieOf(request, 'session');
      const session = sessions.get(id);
      if (session === undefined) return text(response, 401, 'Sign in first.');
      const { pizza } = Object.fromEntries(await formOf(request));
      // Stop when the user has left.
      const gone = new AbortController();
      response.on('close', () => gone.abort());
      const toolcrib = createToolcribClient({ url: toolcribUrl, token: (refused) => session.token(refused), signal: gone.signal });
      try {
        for await (const line of runAgent(toolcrib, { pizza: pizza ?? '' })) {
          if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
          response.write(`${line}\n`);
        }
        response.end();
      } catch (error) {
        if (!(error instanceof SignedOut)) throw error;
        sessions.delete(id);
        if (response.headersSent) response.end(`${error.message}\n`);
        else text(response, 401, error.message);
      }
    },

    async 'POST /logout'(request, response) {
      const id = cookieOf(request, 'session');
      const tokens = sessions.get(id)?.end();
      sessions.delete(id);
      redirect(response, tokens === undefined ? ownUrl : signIn.endUrl(tokens, `${ownUrl}/`), cookie('session', ''));
    },

    /** Called by the provider, not by a browser, when a session has ended there. */
    async 'POST /backchannel-logout'(request, response) {
      const sid = await readLogoutToken((await formOf(request)).get('logout_token') ?? '').catch(() => undefined);
      if (sid === undefined) return text(response, 400, 'This is no logout token for this application.');
      for (const [id, session] of sessions) {
        if (session.sid !== sid) continue;
        session.end();
        sessions.delete(id);
      }
      response.writeHead(200, { 'cache-control': 'no-store' }).end();
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { pathname } = new URL(request.url ?? '', ownUrl);
    const route = routes[`${request.method} ${pathname}`];
    if (route === undefined) return text(response, 404, 'There is nothing here.');
    // Cookies ignore ports: a page of another application on this machine must not act for the user.
    const from = request.headers['sec-fetch-site'];
    if (request.method === 'POST' && from !== undefined && from !== 'same-origin') return text(response, 403, 'Not from another page.');
    return route(request, response);
  }

  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.closed) console.error(error);
      if (response.headersSent) response.destroy();
      else text(response, 502, 'That did not work. Try again.');
    });
  };
}

const newId = () => randomBytes(32).toString('base64url');
const cookie = (name: string, value: string) => `${name}=${value}; HttpOnly; SameSite=Lax; Path=/${value === '' ? '; Max-Age=0' : ''}`;

function cookieOf(request: IncomingMessage, name: string): string {
  const pairs = (request.headers.cookie ?? '').split('; ').map((pair) => pair.split('='));
  return pairs.find(([key]) => key === name)?.[1] ?? '';
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > mostForm) throw new Error('The form is too large');
  }
  return new URLSearchParams(body);
}

function redirect(response: ServerResponse, to: URL | string, setCookie?: string): void {
  response.writeHead(303, { location: String(to), ...(setCookie === undefined ? {} : { 'set-cookie': setCookie }) }).end();
}

function page(response: ServerResponse, html: string): void {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'content-security-policy': policy };
  response.writeHead(200, headers).end(html);
}

function text(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${message}\n`);
}
