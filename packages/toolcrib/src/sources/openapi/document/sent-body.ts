import type { ChosenForm, HttpRequestBody } from '../../../model/http-operation.ts';
import { fieldsOf, isSameSchema, type FoundForm } from './body-forms.ts';
import type { OpenDocument } from './open-document.ts';
import type { FoundBody } from './request-body.ts';
import { shortHash } from '../../documents/short-hash.ts';

export const bodyArgument = 'body';

/** [OAS-2] How a body is sent, with an argument for the media type if there are several forms. `names` are the other arguments. */
export function sentBodyOf(document: OpenDocument, { required, forms }: FoundBody, names: readonly string[]): HttpRequestBody {
  const [{ content_type, kind, encoding }] = forms;
  const body = { argument: bodyArgument, required, content_type, kind, encoding };
  if (forms.length === 1) return body;
  const free = ['content_type', 'body_content_type', `content_type_${shortHash(names.join(' '))}`];
  const argument = free.find((name) => !names.includes(name)) ?? bodyArgument;
  return { ...body, choice: { argument, forms: forms.map((form) => chosen(document, form, forms)) } };
}

function chosen(document: OpenDocument, form: FoundForm, forms: readonly FoundForm[]): ChosenForm {
  const { content_type, kind, encoding, takes, schema } = form;
  const isAmbiguous =
    takes.includes('object') && forms.some((other) => other.takes.includes('object') && !isSameSchema(other.schema, schema));
  return { content_type, kind, encoding, takes, ...(isAmbiguous ? { fields: fieldsOf(document, schema) } : {}) };
}
