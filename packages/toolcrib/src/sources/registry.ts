import { CribError } from '../model/crib-error.ts';
import type { SourceRegistration, SourceType } from './source-type.ts';
import type { SourceDefinition } from '../model/source-definition.ts';
import type { SourceForm } from './registration/source-form.ts';
import { builtin } from './builtin/source-type.ts';
import { graphql } from './graphql/source-type.ts';
import { mcp } from './mcp/source-type.ts';
import { openapi } from './openapi/source-type.ts';
import { workflow } from './workflow/source-type.ts';

/** Every kind of source. A new kind is a folder with a `source-type.ts`, and a line here. */
export const sourceTypes: readonly SourceType[] = [builtin, mcp, openapi, workflow, graphql];

const byName = new Map(sourceTypes.map((type) => [type.name, type]));

export function sourceTypeOf(name: string): SourceType {
  const type = byName.get(name);
  if (type === undefined) throw new CribError('INTERNAL', `This version of Toolcrib has no sources of type ${name}`);
  return type;
}

/** How sources of this type are registered. Throws for the built-in tools. */
export function registrationFor(name: string): SourceRegistration<SourceForm, SourceDefinition> {
  const { registration } = sourceTypeOf(name);
  if (registration === null) throw new CribError('CONFLICT', 'The built-in tools cannot be changed');
  return registration;
}
