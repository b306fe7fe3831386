import type { JsonObject, JsonSchema } from '../../../model/json.ts';
import type { PlannedArgument } from '../graphql-plan.ts';
import { cut } from '../../documents/node.ts';
import type { InputSchemas } from './input-schemas.ts';
import { shortHash } from '../../documents/short-hash.ts';
import { isRequired, nullable, type SchemaField } from './type-table.ts';
import { Unusable } from '../../documents/unusable.ts';

const longestName = 64;
const largest = 512 * 1024;
/** Definitions that are too large are cut to this size. */
const large = 128 * 1024;

interface ArgumentSchema {
  schema: JsonSchema;
  planned: PlannedArgument[];
  /** The name of the argument for another selection; null if there is nothing to select. */
  select: string | null;
}

interface ArgumentParts {
  args: readonly SchemaField[];
  inputs: InputSchemas;
  /** The description of the argument for another selection; null if there is nothing to select. */
  selectDescription: string | null;
  warn(message: string): void;
}

/** The input schema of a tool: the arguments of its field, the argument for another selection, and all definitions they refer to. */
export function argumentSchema({ args, inputs, selectDescription, warn }: ArgumentParts): ArgumentSchema {
  const properties: [string, JsonObject][] = [];
  const references = new Set<string>();
  const required: string[] = [];
  const planned: PlannedArgument[] = [];
  for (const field of args) {
    const translated = translatedOr(field, inputs, warn);
    if (translated === undefined) continue;
    const argument = argumentName(field.name);
    properties.push([argument, translated.schema]);
    for (const name of translated.references) references.add(name);
    if (isRequired(field)) required.push(argument);
    // A non-null type stays non-null even with a default: an argument that is left out is not declared in the request.
    planned.push({ argument, name: field.name, type: field.type });
  }
  const select = selectDescription === null ? null : freeName(new Set(properties.map(([name]) => name)));
  if (select !== null) properties.push([select, { type: 'string', description: selectDescription ?? '' }]);
  const definitions = definitionsFor(inputs, references, warn);
  const schema: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...(definitions.length === 0 ? {} : { $defs: Object.fromEntries(definitions) }),
  };
  if (JSON.stringify(schema).length > largest) throw new Unusable(`The schema of its arguments is larger than ${largest / 1024} KiB`);
  return { schema, planned, select };
}

/** Leaves out an argument that cannot be given, unless it is required. */
function translatedOr(
  field: SchemaField,
  inputs: InputSchemas,
  warn: (message: string) => void,
): ReturnType<InputSchemas['translate']> | undefined {
  try {
    return inputs.translate(field);
  } catch (error) {
    if (!(error instanceof Unusable) || isRequired(field)) throw error;
    warn(`The argument ${cut(field.name, 100)} of type ${cut(nullable(field.type), 100)} is left out: ${error.message}`);
    return undefined;
  }
}

/** All definitions that are reached. If they are too large, the nearest are kept and the others accept any value. */
function definitionsFor(inputs: InputSchemas, wanted: ReadonlySet<string>, warn: (message: string) => void): [string, JsonObject][] {
  for (const most of [largest / 2, large]) {
    const reached = new Set(wanted);
    const found: [string, JsonObject][] = [];
    let size = 0;
    let isWhole = true;
    for (const name of reached) {
      const { schema, references, size: own } = inputs.definition(name);
      const hasRoom = size + own <= most;
      isWhole &&= hasRoom;
      size += hasRoom ? own : name.length + 2;
      found.push([name, hasRoom ? schema : {}]);
      if (hasRoom) for (const further of references) reached.add(further);
    }
    if (isWhole) return found;
    if (most === large) {
      warn(`The schema of its arguments is larger than ${largest / 1024 / 2} KiB, so their deepest parts accept any value`);
      return found;
    }
  }
  return [];
}

function argumentName(name: string): string {
  return name.length <= longestName ? name : `${name.slice(0, longestName - 9)}_${shortHash(name)}`;
}

/** No argument in a schema begins with two underscores, so `__select` is always free. */
function freeName(taken: ReadonlySet<string>): string {
  return taken.has('_select') ? '__select' : '_select';
}
