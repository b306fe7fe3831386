import type { BodyForm, ChosenForm, HttpRequestBody, JsonType } from '../../../model/http-operation.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { argumentOf } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';

const words: Record<JsonType, string> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'text',
  array: 'a list',
  object: 'an object',
};

/** [OAS-2] Chooses the media type of a body: the requested one, or else the first that fits the value. */
export function chosenForm(body: HttpRequestBody, value: Json, args: JsonObject): BodyForm {
  const { choice, argument } = body;
  if (choice === undefined) return body;
  const { forms } = choice;
  const type = typeOf(value);
  const asked = argumentOf(args, choice.argument);
  if (asked === undefined) {
    const taking = forms.filter(({ takes }) => takes.includes(type));
    return taking.find((form) => hasFieldsOf(form, value)) ?? taking[0] ?? body;
  }
  const form = forms.find(({ content_type }) => content_type === asked);
  if (form === undefined) throw badArgument(choice.argument, `must be one of ${forms.map(({ content_type }) => content_type).join(', ')}`);
  if (form.takes.includes(type)) return form;
  const wanted = form.takes.map((one) => words[one]).join(' or ');
  throw badArgument(argument, `is ${words[type]}, but ${form.content_type} takes ${wanted}: change the value, or ${choice.argument}`);
}

function hasFieldsOf({ fields }: ChosenForm, value: Json): boolean {
  if (fields === undefined || typeof value !== 'object' || value === null) return true;
  const { required, known } = fields;
  return required.every((name) => Object.hasOwn(value, name)) && Object.keys(value).every((name) => known.includes(name));
}

function typeOf(value: Json): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}
