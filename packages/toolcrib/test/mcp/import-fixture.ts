import { expect } from 'vitest';
import { parseImport } from '../../src/sources/import/read-import.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { register } from './registration-fixture.ts';

/** What an import gives once its registrations have been normalised. */
export async function definitionsOf(config: unknown) {
  const { registrations, problems } = parseImport(typeof config === 'string' ? config : JSON.stringify(config));
  expect(problems).toEqual([]);
  const registered = await Promise.all(registrations.map(({ form }) => register(mcpRegistrationSchema.parse(form))));
  return Object.fromEntries(registered.map(({ name, definition }) => [name, definition]));
}
