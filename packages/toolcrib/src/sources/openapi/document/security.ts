import type { SecurityRequirement } from '../../../model/http-operation.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { listAt, objectAt, own, textAt, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { Unusable } from '../../documents/unusable.ts';

export interface Security {
  security: SecurityRequirement[][];
  sends_credential: boolean;
}

/** [OAS-4] Gives the security requirements of an operation: its own, or else those of the document. */
export function createSecurity(
  document: OpenDocument,
  operations: readonly JsonObject[],
): (operation: JsonObject, warn: (message: string) => void) => Security {
  const isUsed = [document.root, ...operations].some((node) => listAt(own(node, 'security')).length > 0);

  return (operation, warn) => {
    const given = own(operation, 'security') ?? own(document.root, 'security');
    const security = listAt(given)
      .filter(isObject)
      .map((alternative) => Object.entries(alternative).map(([scheme, scopes]) => requirement(document, scheme, scopes, warn)));
    // A list of empty alternatives requires nothing.
    const wanted = security.some(({ length }) => length > 0) ? security : [];
    // A document without any security may still describe a service that needs a credential.
    return { security: wanted, sends_credential: wanted.length > 0 || (given === undefined && !isUsed) };
  };
}

function schemesOf(document: OpenDocument): JsonObject {
  if (document.format === '2.0') return objectAt(own(document.root, 'securityDefinitions'));
  return objectAt(own(objectAt(own(document.root, 'components')), 'securitySchemes'));
}

/** Undefined if the document has no scheme of this name. */
export function schemeNamed(document: OpenDocument, name: string): JsonObject | undefined {
  try {
    return document.follow(own(schemesOf(document), name), 'A security scheme');
  } catch (error) {
    if (error instanceof Unusable) return undefined;
    throw error;
  }
}

function requirement(document: OpenDocument, name: string, scopes: Node, warn: (message: string) => void): SecurityRequirement {
  const scheme = schemeNamed(document, name);
  const wanted = { scheme: name, scopes: listAt(scopes).filter((scope) => typeof scope === 'string') };
  if (scheme === undefined) {
    warn(`The operation requires the security scheme ${name}, which the document does not define`);
    return { ...wanted, type: 'other' };
  }
  const place = (['header', 'query', 'cookie'] as const).find((known) => known === own(scheme, 'in'));
  const key = textAt(own(scheme, 'name'));
  const type = typeOf(scheme);
  return type === 'api_key' && place !== undefined && key !== undefined ? { ...wanted, type, in: place, name: key } : { ...wanted, type };
}

function typeOf(scheme: JsonObject): SecurityRequirement['type'] {
  const http = textAt(own(scheme, 'scheme'))?.toLowerCase();
  switch (textAt(own(scheme, 'type')) ?? '') {
    case 'apiKey':
      return 'api_key';
    case 'basic':
      return 'basic';
    case 'http':
      return http === 'basic' || http === 'bearer' ? http : 'other';
    case 'oauth2':
      return 'oauth2';
    case 'openIdConnect':
      return 'openid';
    case 'mutualTLS':
      return 'mutual_tls';
    default:
      return 'other';
  }
}
