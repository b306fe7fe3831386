import type { OpenApiFormInput } from '../openapi/registration/openapi-form.ts';
import { addressName } from './address-name.ts';
import type { Fields } from './fields.ts';
import { utcpAuth } from './utcp-auth.ts';
import { withBraces } from './utcp-variables.ts';
import { isObject } from '../../model/json.ts';

/** [SRC-4] Makes one source of a call template whose `url` is a manual or an OpenAPI document. Throws an error that names the fault. */
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
  if (typeof url !== 'string' || url.trim() === '') throw new Error('url: give the address of the manual or the OpenAPI document');
  if (/(?<!\$)\{/.test(url)) {
    throw new Error(
      'url: this template calls a tool. Put it into a manual, as the tool_call_template of a tool with name, description and inputs',
    );
  }
  if (typeof method !== 'string' || method.toUpperCase() !== 'GET')
    throw new Error('http_method: must be GET, because the manual is fetched with GET');
  const name = typeof ownName === 'string' && ownName.trim() !== '' ? ownName : undefined;
  const notes: string[] = [];
  const sent = headersOf(headers);
  const [only, ...more] = Object.entries(sent);
  // A single header is treated as the credential.
  const isKey = only !== undefined && more.length === 0 && auth == null;
  const own = isKey ? utcpAuth({ auth_type: 'api_key', var_name: only[0], api_key: only[1] }) : utcpAuth(auth);
  const credential = utcpAuth(authTools, 'auth_tools') ?? own;
  const origin = URL.parse(url)?.origin;
  const isPinned = credential !== undefined && authTools == null && origin !== undefined;
  if (isPinned) notes.push(`auth is sent only to ${origin}. For tools on other servers, set auth_tools`);
  if (only !== undefined && !isKey) notes.push('headers are sent with calls, but not when the manual is fetched');
  if (Array.isArray(allowed) && allowed.some((kind) => kind !== 'http')) {
    notes.push('Only the HTTP tools of the fetched manual are used. To register its MCP servers, import the manual itself');
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
  const entries = Object.entries(isObject(headers) ? headers : {}).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
}
