import type { SourceDefinition } from '../../model/source-definition.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import { resolveHeaders, type EnvironmentInput } from './environment.ts';
import { checkHeaderValue } from './header-rules.ts';
import type { HttpCredentials } from './request-with-credentials.ts';
import type { UpstreamCredential, UpstreamToken } from './upstream-credential.ts';

interface RemoteCredentialsInput {
  definition: SourceDefinition;
  credential: UpstreamCredential;
  resolving: EnvironmentInput;
  /** Gets every token that is sent while the session lives. */
  redactor: Pick<Redactor, 'add'>;
}

/** [MCP-12] The headers and the credential of every request to a remote server. */
export async function remoteCredentials(input: RemoteCredentialsInput): Promise<HttpCredentials> {
  const { definition, credential, resolving, redactor } = input;
  const { headers } = await resolveHeaders(definition, resolving);
  switch (credential.type) {
    case 'none':
      return { headers: () => headers };
    case 'header': {
      checkHeaderValue(credential.value, 'credential');
      const all = { ...headers, [credential.name]: credential.value };
      return { headers: () => all };
    }
    case 'query':
      return { headers: () => headers, query: { [credential.name]: credential.value } };
    case 'tokens': {
      const { tokens } = credential;
      let last: { accessToken: string; all: Record<string, string> } | undefined;
      const withToken = (token: UpstreamToken, request: { method: string; url: URL }) => {
        const { accessToken, scheme } = token;
        if (last?.accessToken !== accessToken) {
          redactor.add(accessToken);
          last = { accessToken, all: { ...headers, authorization: `${scheme} ${accessToken}` } };
        }
        return scheme === 'DPoP' ? withProof(last.all, token, request) : last.all;
      };
      return {
        headers(request) {
          const token = tokens.get();
          return token instanceof Promise ? token.then((found) => withToken(found, request)) : withToken(token, request);
        },
        onChallenge: (challenge) => tokens.refused(challenge),
      };
    }
  }
}

/** RFC 9449 §4.2. */
async function withProof(
  headers: Record<string, string>,
  { accessToken, dpop }: UpstreamToken,
  { method, url }: { method: string; url: URL },
): Promise<Record<string, string>> {
  const proof = await dpop?.buildProof({ htm: method, htu: url, accessToken });
  return proof === undefined ? headers : { ...headers, dpop: proof };
}
