import { z } from 'zod';
import type { LoginBrowser } from './login-browser.ts';
import { LoginFault, type LoginReport } from './login-report.ts';
import type { FoundResource } from './find-resource.ts';
import { readDocument } from './read-document.ts';

const metadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string().optional(),
  token_endpoint: z.string().optional(),
  registration_endpoint: z.string().optional(),
  scopes_supported: z.array(z.string()).optional(),
  response_types_supported: z.array(z.string()).optional(),
  grant_types_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});
type Metadata = z.output<typeof metadataSchema>;

export type AuthorizationServer = Metadata & { authorization_endpoint: string; token_endpoint: string };

/** RFC 8414 §3.1 and OpenID Connect Discovery 1.0, in the order in which clients try them. */
export async function findAuthorizationServer(
  { authorizationServer, scopes }: FoundResource,
  browser: LoginBrowser,
  report: LoginReport,
): Promise<AuthorizationServer> {
  const { document } = await report.step(
    'authorization server',
    () => metadataOf(authorizationServer, browser),
    ({ at }) => `${authorizationServer} has its metadata at ${at}`,
  );
  const server = await report.step(
    'authorization code',
    () => checkFlow(document),
    () => 'endpoints, the response type code and the grant authorization_code are there',
  );
  await report.step(
    'PKCE',
    () => checkPkce(document),
    () => 'S256 is supported',
  );
  remarkOn(document, scopes, report);
  return server;
}

async function metadataOf(issuer: string, browser: LoginBrowser) {
  const url = URL.parse(issuer);
  if (url === null) throw new LoginFault(`${issuer} is no address`, 'name the authorization server by its issuer');
  const path = url.pathname.replace(/\/$/, '');
  const forms = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${path}/.well-known/openid-configuration`]),
  ];
  for (const form of forms) {
    const at = `${url.origin}${form}`;
    const page = await browser.send(at);
    if (page.status !== 200) continue;
    const document = readDocument(page, metadataSchema);
    if (document.issuer === issuer) return { at, document };
    throw new LoginFault(
      `its metadata names the issuer ${document.issuer}, but the resource names ${issuer}: clients refuse that (RFC 8414 §3.3)`,
      `write ${document.issuer} into authorization_servers of the resource, to the letter`,
    );
  }
  const tried = forms.map((form) => `${url.origin}${form}`).join(', ');
  throw new LoginFault(`${issuer} has no metadata; tried ${tried}`, 'check that it is an authorization server, and is reached from here');
}

function checkFlow(document: Metadata): AuthorizationServer {
  const {
    authorization_endpoint: authorize,
    token_endpoint: token,
    response_types_supported: types,
    grant_types_supported: grants,
  } = document;
  const needed = 'clients need an authorization server with a sign-in page (Toolcrib: the login bridge, or an OIDC provider as --issuer)';
  if (authorize === undefined) throw new LoginFault('the authorization server names no authorization_endpoint', needed);
  if (token === undefined) throw new LoginFault('the authorization server names no token_endpoint', needed);
  if (types !== undefined && !types.includes('code')) throw new LoginFault('the response type code is not supported', needed);
  if (grants !== undefined && !grants.includes('authorization_code'))
    throw new LoginFault('the grant authorization_code is not supported', needed);
  return { ...document, authorization_endpoint: authorize, token_endpoint: token };
}

function checkPkce({ code_challenge_methods_supported: methods }: Metadata): void {
  if (methods?.includes('S256') === true) return;
  const seen =
    methods === undefined ? 'code_challenge_methods_supported is not in the metadata' : `only ${methods.join(', ')} is supported`;
  throw new LoginFault(`${seen}, and clients refuse to go on without S256`, 'turn on PKCE with S256, and list it in the metadata');
}

/** What costs something without ending the login. */
function remarkOn(document: Metadata, scopes: string[], report: LoginReport): void {
  const { grant_types_supported: grants, token_endpoint_auth_methods_supported: methods, scopes_supported: known } = document;
  if (document.authorization_response_iss_parameter_supported === true) report.ok('issuer in the answer', 'RFC 9207 is supported');
  else
    report.warn(
      'issuer in the answer',
      'the authorization server does not say that it sends iss (RFC 9207)',
      'turn it on: clients with several servers tell their answers apart by it',
    );
  if (grants?.includes('refresh_token') === false)
    report.warn('refresh', 'the grant refresh_token is not supported', 'allow it, or people sign in anew with every token');
  if (methods?.includes('none') === false)
    report.warn('public clients', 'the token endpoint wants a secret, which desktop clients do not have', 'allow the method none');
  const unknown = scopes.filter((scope) => known?.includes(scope) === false);
  if (unknown.length > 0)
    report.warn(
      'scopes',
      `the resource asks for ${unknown.join(' ')}, which the authorization server does not list`,
      'add the scope there, for many answer invalid_scope otherwise',
    );
  else report.ok('scopes', scopes.length === 0 ? 'none are asked for' : scopes.join(' '));
}
