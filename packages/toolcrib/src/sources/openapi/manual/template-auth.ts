import type { SecurityRequirement } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { isObject, own, textAt, type Node } from '../document/node.ts';
import { Unusable } from '../document/unusable.ts';

/**
 * What the `auth` of a call template asks for. The credential itself is the source's: a document that could name variables of ours would have
 * them sent wherever it likes.
 */
export function templateAuth(auth: Node): SecurityRequirement | undefined {
  if (auth === undefined || auth === null) return undefined;
  if (!isObject(auth)) throw new Unusable('Its auth is no object');
  const name = textAt(own(auth, 'var_name'));
  switch (textAt(own(auth, 'auth_type')) ?? '') {
    case 'api_key': {
      const place = (['header', 'query', 'cookie'] as const).find((known) => known === (own(auth, 'location') ?? 'header'));
      if (place === undefined) throw new Unusable('Its auth.location is none of header, query and cookie');
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
      throw new Unusable(`Its auth_type is ${JSON.stringify(own(auth, 'auth_type') ?? null)}: api_key, basic and oauth2 are known`);
  }
}

/** The same as a security scheme of OpenAPI says it, as far as a suggestion needs that. */
export function declaredScheme(auth: Node): JsonObject {
  const tokenUrl = isObject(auth) ? textAt(own(auth, 'token_url')) : undefined;
  return { type: 'oauth2', flows: { clientCredentials: tokenUrl === undefined ? {} : { tokenUrl } } };
}
