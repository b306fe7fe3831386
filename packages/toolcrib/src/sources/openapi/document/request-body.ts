import type { Json, JsonObject } from '../../../model/json.ts';
import { bodyForms, type Content, type FoundForm } from './body-forms.ts';
import { bodyKind } from './media-types.ts';
import { listAt, objectAt, own, textAt } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import type { BodyParameters } from './parameters.ts';
import { Unusable } from '../../documents/unusable.ts';

/** A request body as the document describes it. */
export interface FoundBody {
  required: boolean;
  description: string | undefined;
  /** At least one; the preferred one first. */
  forms: [FoundForm, ...FoundForm[]];
}

/** [OAS-2] The body of a request; null if there is none. */
export function findBody(document: OpenDocument, method: string, operation: JsonObject, old: BodyParameters): FoundBody | null {
  if (document.format === '2.0') return oldBody(document, method, operation, old);
  const given = own(operation, 'requestBody');
  // RFC 9110 gives a body no meaning in these methods, and OpenAPI 3.0 says to ignore it.
  if (given === undefined || method === 'TRACE' || method === 'HEAD' || (method === 'GET' && document.format === '3.0')) return null;
  const requestBody = document.follow(given, 'The body');
  const content = Object.entries(objectAt(own(requestBody, 'content')));
  const required = own(requestBody, 'required') === true;
  if (content.length === 0 && !required) return null;
  const [first, ...more] = bodyForms(document, method, contentsOf(document, content));
  if (first === undefined) throw noMediaType();
  return { required, description: textAt(own(requestBody, 'description')), forms: [first, ...more] };
}

/** Ignores broken media types if there are others. */
function contentsOf(document: OpenDocument, content: [type: string, media: Json][]): Content[] {
  let reason: unknown;
  const contents = content.flatMap(([type, given]): Content[] => {
    try {
      const media = document.follow(given, 'The body');
      return [{ type, schema: own(media, 'schema') ?? {}, encoding: objectAt(own(media, 'encoding')) }];
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      reason ??= error;
      return [];
    }
  });
  if (contents.length === 0 && reason !== undefined) throw reason;
  return contents;
}

function noMediaType(): Unusable {
  return new Unusable('The body has no media type that can be sent');
}

function oldBody(document: OpenDocument, method: string, operation: JsonObject, { body, form }: BodyParameters): FoundBody | null {
  const consumes = listAt(own(operation, 'consumes') ?? own(document.root, 'consumes')).filter((type) => typeof type === 'string');
  if (body !== undefined) {
    const schema = own(body, 'schema') ?? {};
    const inType = (type: string): Content => ({ type, schema, encoding: {} });
    const required = own(body, 'required') === true;
    const description = textAt(own(body, 'description'));
    return { required, description, forms: atLeast(bodyForms(document, method, consumes.map(inType)), inType('application/json')) };
  }
  if (form.length === 0) return null;
  const hasFile = form.some((parameter) => own(parameter, 'type') === 'file');
  const types = consumes.filter((type) => bodyKind(type) === 'multipart' || (bodyKind(type) === 'form' && !hasFile));
  const required = form
    .filter((parameter) => own(parameter, 'required') === true)
    .flatMap((parameter) => textAt(own(parameter, 'name')) ?? []);
  const properties = Object.fromEntries(form.map((parameter) => [textAt(own(parameter, 'name')) ?? '', parameter]));
  const schema = { type: 'object', properties, required };
  const inType = (type: string): Content => ({ type, schema, encoding: {} });
  const usual = inType(hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded');
  const forms = atLeast(bodyForms(document, method, types.map(inType)), usual);
  return { required: required.length > 0, description: undefined, forms };

  function atLeast(found: FoundForm[], fallback: Content): FoundBody['forms'] {
    const [first, ...more] = found.length > 0 ? found : bodyForms(document, method, [fallback]);
    if (first === undefined) throw noMediaType();
    return [first, ...more];
  }
}
