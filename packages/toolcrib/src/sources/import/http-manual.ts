import type { OpenApiFormInput } from '../openapi/registration/openapi-form.ts';
import { hasReference, looksLikeSecretValue, looksSecret } from '../../secrets/secret-looks.ts';
import { addressName } from './address-name.ts';
import type { Fields } from './fields.ts';
import { utcpAuth, withoutSecrets } from './utcp-auth.ts';
import { withBraces } from './utcp-variables.ts';
import { isObject } from '../../model/json.ts';

/** One HTTP tool of a manual. */
export interface HttpTool {
  entry: string;
  tool: Fields;
  template: Fields;
}

interface Group {
  entry: string;
  auth: unknown;
  headers: Record<string, string>;
  tools: Fields[];
  origins: Set<string>;
}

interface ManualHead {
  name: string | undefined;
  utcp_version: unknown;
  manual_version: unknown;
}

/**
 * [SRC-4] Makes one source of all HTTP tools of a manual, and another for each further credential, because a source has only one. The
 * manual is stored without its secrets; the source holds them.
 */
export function httpManual(tools: readonly HttpTool[], { name, ...head }: ManualHead): { entry: string; form: () => OpenApiFormInput }[] {
  const groups = new Map<string, Group>();
  for (const { entry, tool, template } of tools) {
    const { secret, plain } = headersOf(template);
    const auth = withBraces(template['auth'] ?? null);
    // A tool without a credential joins the first group without secret headers, which would otherwise be sent with its calls.
    const isOpen = auth === null && Object.keys(secret).length === 0;
    const first = isOpen ? [...groups].find(([, group]) => Object.keys(group.headers).length === 0)?.[0] : undefined;
    const key = first ?? JSON.stringify([auth, Object.entries(secret)]);
    const group = groups.get(key) ?? { entry, auth, headers: secret, tools: [], origins: new Set() };
    groups.set(key, group);
    const shown = { ...template, headers: plain, auth: isObject(auth) ? withoutSecrets(auth) : undefined };
    group.tools.push({ ...tool, tool_provider: undefined, tool_call_template: shown });
    const origin = typeof template['url'] === 'string' ? URL.parse(template['url'])?.origin : undefined;
    if (origin !== undefined && origin !== 'null') group.origins.add(origin);
  }
  return mergedOpen([...groups.values()]).map((group, index) => ({
    entry: group.entry,
    form: () =>
      formOf(group, { ...head, name: `${name ?? addressName([...group.origins][0] ?? '')}${index === 0 ? '' : ` ${index + 1}`}` }, name),
  }));
}

/** Merges the first group into the second if its tools need no credential: they came before the first tool with one. */
function mergedOpen(groups: Group[]): Group[] {
  const [first, second] = groups;
  const isOpen = first?.auth === null && Object.keys(first.headers).length === 0;
  if (!isOpen || second === undefined || Object.keys(second.headers).length > 0) return groups;
  const merged = {
    ...second,
    entry: first.entry,
    tools: [...first.tools, ...second.tools],
    origins: new Set([...first.origins, ...second.origins]),
  };
  return [merged, ...groups.slice(2)];
}

function formOf(
  { auth, headers, tools, origins }: Group,
  head: ManualHead & { name: string },
  manual: string | undefined,
): OpenApiFormInput {
  const { name, utcp_version = '1.0.1', manual_version = '1.0.0' } = head;
  const credential = utcpAuth(auth);
  const hasSecrets = credential !== undefined || Object.keys(headers).length > 0;
  return {
    name,
    source_type: 'openapi',
    openapi: {
      text: JSON.stringify({ utcp_version, manual_version, tools }),
      // The manual itself says which origins the secrets are for.
      ...(hasSecrets ? { origins: [...origins] } : {}),
    },
    ...(credential === undefined ? {} : { credential }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(manual === undefined ? {} : { manual }),
  };
}

function headersOf({ headers }: Fields): { secret: Record<string, string>; plain: Record<string, string> } {
  const secret: Record<string, string> = {};
  const plain: Record<string, string> = {};
  for (const [name, given] of Object.entries(isObject(headers) ? headers : {})) {
    const value = withBraces(typeof given === 'string' ? given : JSON.stringify(given));
    const isSecret = looksSecret(name) || hasReference(value) || looksLikeSecretValue(value);
    (isSecret ? secret : plain)[name] = value;
  }
  return { secret, plain };
}
