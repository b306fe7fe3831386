import { createEgress, type Egress, type EgressConfig } from '../../net/egress.ts';
import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import { UsageError } from '../../model/usage-error.ts';
import { printable } from '../../text/printable.ts';
import { paint, print, printJson } from '../terminal.ts';
import { createLoginBrowser } from './login-browser.ts';
import { loginClients, type LoginClient } from './login-clients.ts';
import type { LoginStep } from './login-report.ts';
import { replayLogin } from './replay-login.ts';

export interface LoginDoctorInput {
  address: string;
  client: string;
  clientId: string | undefined;
  egress: EgressConfig;
  asJson: boolean;
}

/** [LOGIN-6] `doctor --login`: returns the exit code. */
export async function loginDoctor({ address, client: name, clientId, egress, asJson }: LoginDoctorInput): Promise<number> {
  const url = addressFrom(address);
  const client: LoginClient = clientNamed(name);
  const browser = createLoginBrowser(wayOutFor(url, egress));
  const seen = await replayLogin({ address: url, client, fixedId: clientId, browser });
  const steps = seen.map(shown);
  const isWell = steps.every(({ state }) => state !== 'broken');
  if (asJson) printJson({ ok: isWell, client: name, address: url.href, steps });
  else print(pictureOf(steps, isWell, client));
  return isWell ? 0 : 1;
}

/** A server out there must not lead the person who checks it to machines of their own network; one that is on this machine may. */
export function wayOutFor(url: URL, config: EgressConfig): Egress {
  if (!isLoopbackHost(url.hostname)) return createEgress(config).trusting([url.origin]);
  return createEgress({ ...config, allowedNetworks: ['loopback', 'private', ...(config.allowedNetworks ?? [])] });
}

function addressFrom(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash)
    throw new UsageError('--login must be the address that a client is given, such as https://crib.example.org/mcp', { field: 'login' });
  return url;
}

function clientNamed(name: string): LoginClient {
  const client = Object.entries(loginClients).find(([known]) => known === name)?.[1];
  if (client !== undefined) return client;
  throw new UsageError(`--client must be one of ${Object.keys(loginClients).join(', ')}`, { field: 'client' });
}

const marks = { ok: ['green', '✓'], warning: ['yellow', '!'], broken: ['red', '✗'] } as const;

function pictureOf(steps: readonly LoginStep[], isWell: boolean, { title }: LoginClient): string {
  const lines = steps.flatMap(({ step, state, detail, cure }) => {
    const [colour, mark] = marks[state];
    const line = `${paint(colour, mark)} ${step}: ${detail}`;
    return cure === undefined ? [line] : [line, `  → ${cure}`];
  });
  const verdict = isWell
    ? `The login of ${title} works as far as it can be seen without signing in.`
    : `The login of ${title} is broken at the step marked ✗.`;
  return [...lines, '', verdict].join('\n');
}

/** Much of it was said by the servers that were asked. */
function shown({ step, state, detail, cure }: LoginStep): LoginStep {
  return { step, state, detail: oneLine(detail), ...(cure !== undefined && { cure: oneLine(cure) }) };
}

function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, ' ');
}
