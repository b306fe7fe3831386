import type { z } from 'zod';
import { Unsupported } from '../unsupported.ts';
import {
  failureActionSchema,
  parameterSchema,
  successActionSchema,
  type ArazzoAction,
  type ArazzoDocument,
  type ArazzoParameter,
  type Reusable,
} from './arazzo-document.ts';
import { whatIsWrong } from './read-arazzo.ts';

type Components = ArazzoDocument['components'];

export function resolveParameter(given: Reusable | ArazzoParameter, components: Components): ArazzoParameter {
  if (!('reference' in given)) return given;
  const { value } = given;
  const found = component(given.reference, 'parameters', components, parameterSchema);
  return value === undefined ? found : { ...found, value };
}

export function resolveAction(
  given: Reusable | ArazzoAction,
  section: 'successActions' | 'failureActions',
  components: Components,
): ArazzoAction {
  if (!('reference' in given)) return given;
  return component(given.reference, section, components, section === 'successActions' ? successActionSchema : failureActionSchema);
}

function component<Schema extends z.ZodType>(
  reference: string,
  section: Exclude<keyof Components, 'inputs'>,
  components: Components,
  schema: Schema,
): z.infer<Schema> {
  const prefix = `$components.${section}.`;
  const name = reference.startsWith(prefix) ? reference.slice(prefix.length) : '';
  if (!Object.hasOwn(components[section], name)) throw new Unsupported(`${reference} does not exist; refer to one of ${prefix}…`);
  const parsed = schema.safeParse(components[section][name]);
  if (!parsed.success) throw new Unsupported(`${reference} is invalid: ${whatIsWrong(parsed.error)}`);
  return parsed.data;
}
