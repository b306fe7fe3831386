import type { IssuerConfig } from '../identity/issuer-config.ts';
import { loginBridgeSchema, type LoginBridgeConfig } from '../login-bridge/bridge-config.ts';
import { parsedJson } from '../model/json.ts';
import { UsageError } from '../model/usage-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import type { ServeConfig } from '../server/server-config.ts';
import type { Given } from './given.ts';

interface Place {
  issuers: readonly IssuerConfig[];
  publicUrl: string | undefined;
  host: string;
}

/** [LOGIN-3] Whether MCP clients log in here, and who signs people in then. */
export function loginBridgeFrom(given: Given<'login-bridge' | 'mcp-door'>, place: Place): Pick<ServeConfig, 'loginBridge'> {
  const text = given.text('login-bridge');
  if (text === undefined) return {};
  const origin = given.origin('login-bridge') ?? '--login-bridge';
  const refuse = (what: string) => new UsageError(`${origin} ${what}`, { field: 'login-bridge' });
  if (text === 'off') return { loginBridge: 'off' };
  if (place.issuers.length === 0)
    throw refuse('needs --issuer: without one, the page lets you choose who to be, and there is nothing to configure');
  if (given.text('mcp-door') !== 'on') throw refuse('is for the MCP door, which is closed: open it with --mcp-door on');
  const parsed = loginBridgeSchema.safeParse(parsedJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.');
    if (!field)
      throw refuse(`must be off, or JSON such as {"client_id": "toolcrib-login", "client_secret_file": "…"}: ${issue?.message ?? ''}`);
    throw refuse(`${field}: ${issue?.message ?? 'does not fit'}`);
  }
  checkAddress(place, refuse);
  return { loginBridge: { ...parsed.data, issuer: issuerOf(parsed.data, place.issuers, refuse) } };
}

/** Browsers carry codes and cookies to this address. */
function checkAddress({ publicUrl, host }: Place, refuse: (what: string) => UsageError): void {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (url === undefined && !isLoopbackHost(host))
    throw refuse('needs --public-url: the address at which browsers and clients reach this server');
  if (url?.protocol === 'http:' && !isLoopbackHost(url.hostname)) throw refuse(`needs https, and --public-url is ${url.origin}`);
}

function issuerOf({ issuer }: LoginBridgeConfig, issuers: readonly IssuerConfig[], refuse: (what: string) => UsageError): string {
  const names = issuers.map((one) => one.issuer);
  const [only] = names;
  if (issuer === undefined && names.length === 1 && only !== undefined) return only;
  if (issuer === undefined) throw refuse(`must say which issuer signs people in: set issuer to one of ${names.join(', ')}`);
  if (names.includes(issuer)) return issuer;
  throw refuse(`names the issuer ${issuer}, which is not configured: it must be one of ${names.join(', ')}`);
}
