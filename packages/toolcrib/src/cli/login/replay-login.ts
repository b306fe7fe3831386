import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import { findAuthorizationServer } from './find-authorization-server.ts';
import { findResource } from './find-resource.ts';
import { identifyClient } from './identify-client.ts';
import type { LoginBrowser } from './login-browser.ts';
import type { LoginClient } from './login-clients.ts';
import { LoginEnded, LoginFault, LoginReport, type LoginStep } from './login-report.ts';
import { openSignIn } from './open-sign-in.ts';

interface ReplayInput {
  address: URL;
  client: LoginClient;
  /** The id that the client was given, if any. */
  fixedId: string | undefined;
  browser: LoginBrowser;
}

/** [LOGIN-6] Does what the client does up to the page where a person signs in. Ends at the first step that the client would not survive. */
export async function replayLogin({ address, client, fixedId, browser }: ReplayInput): Promise<LoginStep[]> {
  const report = new LoginReport();
  try {
    if (client.fromCloud) await report.step('reach', () => checkReach(address, client));
    const found = await findResource(address, client, browser, report);
    if (found === undefined) return report.steps;
    const server = await findAuthorizationServer(found, browser, report);
    const identity = await identifyClient({ server, client, fixedId, browser, report });
    if (identity === undefined) return report.steps;
    try {
      await report.step(
        'sign-in page',
        () => openSignIn({ server, found, client, clientId: identity.clientId, browser }),
        (page) => page,
      );
    } finally {
      await identity.forget();
    }
  } catch (error) {
    if (!(error instanceof LoginEnded)) throw error;
  }
  return report.steps;
}

function checkReach({ protocol, hostname }: URL, { title }: LoginClient): void {
  if (protocol === 'https:' && !isLoopbackHost(hostname)) return;
  throw new LoginFault(`${title} connects from its vendor's servers`, 'give it a public https address');
}
