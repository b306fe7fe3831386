import type { SecurityRequirement } from '../../../model/http-operation.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { own, textAt, type Node } from '../../documents/node.ts';
import { Unusable } from '../../documents/unusable.ts';

/**
 * The security requirement in the `auth` of a call template. The credential itself comes from the source: a document that could name our
 * variables could send them anywhere.
 */
export function templateAuth(auth: Node): SecurityRequirement | undefined {
  if (auth === undefined || auth === null) return undefined;
  if (!isObject(auth)) throw new Unusable('auth must be an object');
  const name = textAt(own(auth, 'var_name'));
  switch (textAt(own(auth, 'auth_type')) ?? '') {
    case 'api_key': {
      const place = (['header', 'query', 'cookie'] as const).find((known) => known === (own(auth, 'location') ?? 'header'));
      if (place === undefined) throw new Unusable('auth.location must be header, query or cookie');
      if (place === 'header' && name?.toLowerCase() === 'authorization' && /^bearer /i.test(textAt(own(auth, 'api_key')) ?? '')) {
        return { scheme: 'bearer', type: 'bearer', scopes: [] };
      }
      const key = name ?? 'X-Api-Key';
      return { scheme: key, type: 'api_key', in: place, name: key, scopes: [] };
    }
    case 'basic':
      return { scheme: 'basic', type: 'basic', scopes: [] };
    case 'oauth2':
      return { scheme: 'oauth2', type: 'oauth2', scopes: textAt(own(auth, 'scope'))?.split(/\s+/) ?? [] };
    case 'oauth2_user':
      return { scheme: 'bearer', type: 'bearer', scopes: [] };
    default:
      throw new Unusable(`auth_type is ${JSON.stringify(own(auth, 'auth_type') ?? null)}: use api_key, basic, oauth2 or oauth2_user`);
  }
}

/** An OAuth `auth` as an OpenAPI security scheme, with only the fields that a suggested credential needs. */
export function declaredScheme(auth: Node): JsonObject {
  const tokenUrl = isObject(auth) ? textAt(own(auth, 'token_url')) : undefined;
  return { type: 'oauth2', flows: { clientCredentials: tokenUrl === undefined ? {} : { tokenUrl } } };
}
