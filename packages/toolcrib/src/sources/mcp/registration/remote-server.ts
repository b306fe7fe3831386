import type { McpDefinition } from '../../../model/mcp-definition.ts';
import { checkHeaderName, checkHeaderValue, headerOfVariable } from '../../upstream/header-rules.ts';
import type { Draft } from '../../registration/draft.ts';
import { givenHeaders, keepHeaders } from '../../registration/keep-headers.ts';
import type { ManifestVariable } from './manifest-model.ts';
import type { SlotFiller } from './manifest-slots.ts';
import { readCredential } from '../../registration/read-credential.ts';
import type { GivenVariable } from './read-variables.ts';
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
  /** Where the address stands in the request, and where the variables do. */
  urlField: string;
  variablesField: string;
}

export type RemoteParts = Pick<McpDefinition, 'transport_type' | 'server_url' | 'allow_insecure' | 'credential'>;

/** The part of a definition that says how a remote server is spoken to. */
export function remoteParts(draft: Draft, server: RemoteServer): RemoteParts {
  const { url, given, allowInsecure, urlField, variablesField } = server;
  checkServerUrl(url, { field: urlField, allowInsecure, checkLiteral: draft.checkLiteral });
  const secretHeaders = new Set(server.declaredHeaders.filter(({ secret }) => secret).map(({ name }) => name.toLowerCase()));
  const sent = setVariables(draft, { given, secretHeaders, field: variablesField });
  for (const name of setHeaders(draft, server)) sent.add(name.toLowerCase());
  const credential = readCredential(draft, server.credential, { field: 'credential', allowInsecure });
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
  /** Headers that the manifest declares as secret, in small letters. */
  secretHeaders: ReadonlySet<string>;
  field: string;
}

/** [ENV-5] They become headers when the server is spoken to; here it is only made sure that they can. Gives the names of those headers. */
function setVariables(draft: Draft, { given, secretHeaders, field }: HeaderVariables): Set<string> {
  const sent = new Set<string>();
  for (const [name, { input, secret }] of given) {
    if (input === undefined) continue;
    const header = headerOfVariable(name, textOf(input));
    if (header !== undefined) {
      checkHeaderName(header[0], `${field}.${name}`);
      checkHeaderValue(header[1], `${field}.${name}`);
      sent.add(header[0].toLowerCase());
    }
    const declaredSecret = header !== undefined && secretHeaders.has(header[0].toLowerCase());
    draft.setVariable(name, input, { field, secret: secret || declaredSecret });
  }
  return sent;
}

function setHeaders(draft: Draft, { headers, declaredHeaders, filler }: RemoteServer): Iterable<string> {
  const given = givenHeaders(headers);
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
