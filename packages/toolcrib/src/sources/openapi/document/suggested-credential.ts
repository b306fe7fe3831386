import type { SecurityRequirement } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { objectAt, own, textAt, type Node } from '../../documents/node.ts';

/** [OAS-4] A credential as a registration takes it, with variables instead of secrets. Null if no type of credential fits. */
export function suggestedCredential(
  { type, scheme, in: place, name }: SecurityRequirement,
  declared: JsonObject,
  base: URL | null,
): JsonObject | null {
  switch (type) {
    case 'api_key':
      return place === undefined || name === undefined ? null : { type: 'api_key', in: place, name, value: variable(scheme, '') };
    case 'basic':
      return { type: 'basic', username: '', password: variable(scheme, '_PASSWORD') };
    case 'bearer':
      return { type: 'bearer', token: variable(scheme, '_TOKEN') };
    case 'oauth2':
      return oauth(scheme, declared, base);
    case 'openid':
      return { type: 'oauth' };
    case 'mutual_tls':
    case 'other':
      return null;
  }
}

/** Client credentials if the document offers no flow for users; otherwise every user connects. */
function oauth(scheme: string, declared: JsonObject, base: URL | null): JsonObject {
  const flows = objectAt(own(declared, 'flows'));
  const old = own(declared, 'flow');
  const isForUsers =
    old === 'accessCode' ||
    old === 'implicit' ||
    ['authorizationCode', 'implicit', 'deviceAuthorization'].some((flow) => Object.hasOwn(flows, flow));
  const flow = old === 'application' ? declared : objectAt(own(flows, 'clientCredentials'));
  if (isForUsers || (old !== 'application' && !Object.hasOwn(flows, 'clientCredentials'))) return { type: 'oauth' };
  const token_url = address(own(flow, 'tokenUrl'), base);
  const credential = { type: 'client_credentials', client_id: '', client_secret: variable(scheme, '_CLIENT_SECRET') };
  return token_url === undefined ? credential : { ...credential, token_url };
}

function address(node: Node, base: URL | null): string | undefined {
  const text = textAt(node);
  return text === undefined ? undefined : URL.parse(text, base?.href)?.href;
}

function variable(scheme: string, ending: string): string {
  const name = scheme
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
    .slice(0, 60);
  const plain = name === '' ? 'API_KEY' : name;
  return `\${${plain.endsWith(ending.slice(1)) ? plain : plain + ending}}`;
}
