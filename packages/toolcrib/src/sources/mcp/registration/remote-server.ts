import type { McpDefinition } from '../mcp-definition.ts';
import { checkHeaderName, checkHeaderValue, headerOfVariable, isHeaderName } from '../../upstream/header-rules.ts';
import type { Draft } from '../../registration/draft.ts';
import { givenHeaders, keepHeaders } from '../../registration/keep-headers.ts';
import type { ManifestVariable } from './manifest-model.ts';
import type { SlotFiller } from './manifest-slots.ts';
import { invalid } from '../../registration/invalid.ts';
import { readCredential } from '../../registration/read-credential.ts';
import type { GivenVariable } from './read-variables.ts';
import type { Credential } from '../../../model/source-definition.ts';
import { referencesIn } from '../../../secrets/secret-looks.ts';
import { checkServerUrl, takeQuerySecrets } from '../../registration/server-url.ts';
import { textOf, type CredentialInput, type ValueInput } from '../../registration/value-input.ts';

export interface RemoteServer {
  url: string;
  transport: 'sse' | 'streamable_http';
  given: ReadonlyMap<string, GivenVariable>;
  headers: Readonly<Record<string, ValueInput>>;
  /** Headers that a manifest declares. */
  declaredHeaders: readonly ManifestVariable[];
  filler: SlotFiller;
  credential: CredentialInput | undefined;
  allowInsecure: boolean;
  /** The request fields that hold the address and the variables. */
  urlField: string;
  variablesField: string;
}

export type RemoteParts = Pick<McpDefinition, 'transport_type' | 'server_url' | 'allow_insecure' | 'credential'>;

/** The part of a definition that says how to connect to a remote server. */
export function remoteParts(draft: Draft, server: RemoteServer): RemoteParts {
  const { url, given, allowInsecure, urlField, variablesField } = server;
  checkServerUrl(url, { field: urlField, allowInsecure, draft });
  const secretHeaders = new Set(server.declaredHeaders.filter(({ secret }) => secret).map(({ name }) => name.toLowerCase()));
  const sent = setVariables(draft, { given, secretHeaders, field: variablesField });
  for (const name of setHeaders(draft, server)) sent.add(name.toLowerCase());
  const credential = readCredential(draft, server.credential, { field: 'credential', allowInsecure });
  refuseUnused(draft, { url, credential, field: variablesField });
  if (credential.type !== 'none') sent.add('authorization');
  for (const { name, required } of server.declaredHeaders) {
    if (required && !sent.has(name.toLowerCase())) draft.missing.push(`headers.${name}`);
  }
  return {
    transport_type: server.transport,
    server_url: takeQuerySecrets(url.trim(), draft.putAside),
    allow_insecure: allowInsecure,
    credential,
  };
}

interface HeaderVariables {
  given: ReadonlyMap<string, GivenVariable>;
  /** Headers that the manifest declares as secret, in lower case. */
  secretHeaders: ReadonlySet<string>;
  field: string;
}

/**
 * [ENV-5] Variables become headers of each request to the server; this only checks that they can. Returns the names of those headers.
 * Variables with the names of headers are left to `setHeaders`.
 */
function setVariables(draft: Draft, { given, secretHeaders, field }: HeaderVariables): Set<string> {
  const sent = new Map<string, string>();
  for (const [name, { input, secret }] of given) {
    if (input === undefined) continue;
    const header = isHeaderName(name) ? ([name, textOf(input)] as const) : headerOfVariable(name, textOf(input));
    if (header !== undefined) {
      checkHeaderName(header[0], `${field}.${name}`);
      checkHeaderValue(header[1], `${field}.${name}`);
      const other = sent.get(header[0].toLowerCase());
      if (other !== undefined) throw invalid(`${field}.${name}`, `${other} and ${name} are the same header. Take one of them out`);
      sent.set(header[0].toLowerCase(), name);
    }
    if (isHeaderName(name)) continue;
    const declaredSecret = header !== undefined && secretHeaders.has(header[0].toLowerCase());
    draft.setVariable(name, input, { field, secret: secret || declaredSecret });
  }
  return new Set(sent.keys());
}

interface UsedVariables {
  url: string;
  credential: Credential;
  field: string;
}

/** [SRC-1] Refuses a variable that would be neither sent nor filled in anywhere, instead of ignoring it silently. */
function refuseUnused(draft: Draft, { url, credential, field }: UsedVariables): void {
  const references = (part: unknown): string[] => referencesIn(JSON.stringify(part));
  const elsewhere = references([url, credential, [...draft.headers.values()]]);
  for (const name of draft.environment.keys()) {
    const inOthers = Array.from(draft.environment, ([other, value]) => (other === name ? [] : references(value))).flat();
    if (headerOfVariable(name, '') !== undefined || [...elsewhere, ...inOthers].includes(name)) continue;
    throw invalid(
      `${field}.${name}`.slice(0, 500),
      `A remote server has no environment, so ${name} would have no effect. Rename it to BEARER_TOKEN to send it as Authorization: Bearer, API_KEY for X-API-Key, or MCP_HEADER_${name} for the header ${name.replaceAll('_', '-')}; or refer to it as \${${name}} in the address or in headers`,
    );
  }
}

function setHeaders(draft: Draft, { headers, declaredHeaders, filler, given: variables }: RemoteServer): Iterable<string> {
  const given = givenHeaders(headers);
  for (const [name, { input, secret }] of variables) {
    if (input !== undefined && isHeaderName(name) && !given.has(name.toLowerCase())) given.set(name.toLowerCase(), { name, input, secret });
  }
  for (const header of declaredHeaders) {
    const value = header.value === undefined ? header.default : filler.text(header, header.name);
    const known = given.get(header.name.toLowerCase());
    if (known !== undefined) known.secret = header.secret;
    else if (value !== undefined && value !== '')
      given.set(header.name.toLowerCase(), { name: header.name, input: value, secret: header.secret });
  }
  keepHeaders(draft, given.values());
  return draft.headers.keys();
}
