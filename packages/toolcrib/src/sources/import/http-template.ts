import type { OpenApiFormInput } from '../openapi/registration/openapi-form.ts';
import { addressName } from './address-name.ts';
import { isFields, type Fields } from './fields.ts';
import { utcpAuth } from './utcp-auth.ts';
import { withBraces } from './utcp-variables.ts';

/** [SRC-4] A call template whose `url` is where a manual or an OpenAPI document is: one source of its tools. Throws what is wrong with it. */
export function httpTemplate(template: Fields, givenName: string | undefined): { form: OpenApiFormInput; notes: string[] } {
  const {
    name: ownName,
    url,
    http_method: method = 'GET',
    auth,
    auth_tools: authTools,
    headers,
    allowed_communication_protocols: allowed,
  } = withBraces(template);
  if (typeof url !== 'string' || url.trim() === '') throw new Error('url: say where the manual or the OpenAPI document is');
  if (/(?<!\$)\{/.test(url)) {
    throw new Error(
      'url: this template calls a tool. Put it into a manual, as the tool_call_template of a tool with name, description and inputs',
    );
  }
  if (typeof method !== 'string' || method.toUpperCase() !== 'GET') throw new Error('http_method: a manual is fetched with GET');
  const name = typeof ownName === 'string' && ownName.trim() !== '' ? ownName : undefined;
  const notes: string[] = [];
  const sent = headersOf(headers);
  const [only, ...more] = Object.entries(sent);
  // A single header is what a credential is.
  const isKey = only !== undefined && more.length === 0 && auth == null;
  const own = isKey ? utcpAuth({ auth_type: 'api_key', var_name: only[0], api_key: only[1] }) : utcpAuth(auth);
  const credential = utcpAuth(authTools, 'auth_tools') ?? own;
  const origin = URL.parse(url)?.origin;
  const isPinned = credential !== undefined && authTools == null && origin !== undefined;
  if (isPinned) notes.push(`auth is sent to ${origin} alone. For tools elsewhere give auth_tools`);
  if (only !== undefined && !isKey) notes.push('headers are sent with calls, and not when the manual is fetched');
  if (Array.isArray(allowed) && allowed.some((kind) => kind !== 'http')) {
    notes.push('Only the http tools of a manual that is fetched are used. To register its MCP servers, import the manual itself');
  }
  const form: OpenApiFormInput = {
    name: name ?? givenName ?? addressName(url),
    source_type: 'openapi',
    openapi: { url, ...(isPinned ? { origins: [origin] } : {}) },
    ...(credential === undefined ? {} : { credential }),
    ...(own === undefined ? {} : { discovery_credential: own }),
    ...(only === undefined || isKey ? {} : { headers: sent }),
    ...(name === undefined ? {} : { manual: name }),
  };
  return { form, notes };
}

function headersOf(headers: unknown): Record<string, string> {
  const entries = Object.entries(isFields(headers) ? headers : {}).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
}
