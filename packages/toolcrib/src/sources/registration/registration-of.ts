import type { JsonObject } from '../../model/json.ts';
import type { DefinedSource } from '../../model/source.ts';
import { formOfDefinition } from './form-of-definition.ts';

/** [SRC-2] The registration of a source as the API shows it: in the form it was given in, with secrets as `***`. */
export function registrationOf(source: DefinedSource): JsonObject {
  return source.registration ?? formOfDefinition(source);
}
