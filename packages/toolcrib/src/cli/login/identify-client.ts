import { z } from 'zod';
import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import type { AuthorizationServer } from './find-authorization-server.ts';
import type { LoginBrowser } from './login-browser.ts';
import type { LoginClient } from './login-clients.ts';
import { LoginFault, type LoginReport } from './login-report.ts';
import { nameOf, readDocument } from './read-document.ts';

export interface ClientIdentity {
  clientId: string;
  /** Takes back what was left at the server. */
  forget(): Promise<void>;
}

const registeredSchema = z.object({
  client_id: z.string().min(1),
  redirect_uris: z.array(z.string()).optional(),
  registration_client_uri: z.string().optional(),
  registration_access_token: z.string().optional(),
});

interface IdentifyInput {
  server: AuthorizationServer;
  client: LoginClient;
  /** In place of what the client would use. */
  fixedId: string | undefined;
  browser: LoginBrowser;
  report: LoginReport;
}

const step = 'client';

/** A document is tried first: it leaves nothing behind. Undefined where the login cannot be replayed any further. */
export async function identifyClient({ server, client, fixedId, browser, report }: IdentifyInput): Promise<ClientIdentity | undefined> {
  const known = fixedId ?? (server.client_id_metadata_document_supported === true ? client.document : undefined);
  if (known !== undefined) {
    report.ok(step, `it calls itself ${known}${fixedId === undefined ? ', its client id metadata document' : ''}`);
    return { clientId: known, forget: () => Promise.resolve() };
  }
  const { registration_endpoint: endpoint } = server;
  if (endpoint !== undefined && client.registers) return register(endpoint, client, browser, report);
  if (server.client_id_metadata_document_supported === true) {
    report.warn(step, 'it would use its own client id metadata document, which is not known here', 'pass its address with --client-id');
    return undefined;
  }
  return report.step(step, () => {
    throw new LoginFault(
      'the authorization server knows neither client id metadata documents nor registration, so the client has no client id',
      'register the client by hand and pass its id with --client-id, or put an authorization server in front (Toolcrib: the login bridge)',
    );
  });
}

async function register(endpoint: string, { title, redirectUri }: LoginClient, browser: LoginBrowser, report: LoginReport) {
  const { protocol, hostname } = new URL(redirectUri);
  const isNative = protocol !== 'https:' || isLoopbackHost(hostname);
  const wanted = {
    client_name: `${title} (toolcrib doctor)`,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: isNative ? 'native' : 'web',
  };
  const registered = await report.step(step, async () => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const page = await browser.send(endpoint, { method: 'POST', headers, body: JSON.stringify(wanted) });
    if (page.status === 201 || page.status === 200) return readDocument(page, registeredSchema);
    throw new LoginFault(
      `${nameOf(page.url)} refuses to register the client (${page.status}): ${excerpt(page.text)}`,
      page.status === 401 || page.status === 403
        ? 'allow registration without a token, or register the client by hand and pass its id with --client-id'
        : 'read what it says: it may refuse this redirect address, or the name',
    );
  });
  const { registration_client_uri: at, registration_access_token: token } = registered;
  const canForget = at !== undefined && token !== undefined && URL.parse(at)?.origin === new URL(endpoint).origin;
  if (canForget) report.ok(step, `registered as ${registered.client_id} for this check, and deleted afterwards`);
  else
    report.warn(
      step,
      `registered as ${registered.client_id} for this check`,
      'the registration remains: this server does not offer to delete it (RFC 7592)',
    );
  return {
    clientId: registered.client_id,
    async forget() {
      if (!canForget) return;
      const page = await browser.send(at, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }).catch(() => undefined);
      if (page === undefined || page.status >= 300)
        report.warn(step, `the registration ${registered.client_id} could not be deleted`, 'delete it at the authorization server');
    },
  };
}

const longestExcerpt = 200;

/** The beginning of an answer as one line of text. */
export function excerpt(text: string): string {
  const plain = text
    .replaceAll(/<(script|style|head)\b[^]*?<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return plain === '' ? 'without a word' : plain.slice(0, longestExcerpt);
}
