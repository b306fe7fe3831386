import type { SourceDefinition } from '../../model/source-definition.ts';
import { CribError } from '../../model/crib-error.ts';
import { createFillIn, type FillIn } from '../../secrets/fill-in.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { checkHeaderName, checkHeaderValue, headerOfVariable } from './header-rules.ts';
import { looksSecret } from '../registration/secret-looks.ts';
import { baseNames, checkVariableName } from './variable-names.ts';

export interface EnvironmentInput {
  secrets: Pick<SecretStore, 'get'>;
  /** Whose own secrets may be used. */
  sourceId?: string;
  /** [ENV-2] Environment variables of ours that the operator lets sources name. */
  allowedNames: ReadonlySet<string>;
  /** Our own environment, of which a child is given the few that every program needs. */
  baseEnvironment: Readonly<Record<string, string | undefined>>;
  /** Told every secret value, so that the server's answers and logs can be cleared of them. */
  redactor?: Pick<Redactor, 'add'>;
}

/** Fills in `${VAR}` for a source: in its variables, and wherever else its definition has values. */
export function createSourceFillIn(definition: SourceDefinition, input: EnvironmentInput): FillIn {
  const { secrets, sourceId, allowedNames, baseEnvironment: environment, redactor } = input;
  return createFillIn({ secrets, sourceId, allowedNames, environment, redactor, declared: definition.environment });
}

/** [ENV-1] [ENV-3] What a child is started with, and nothing else of ours. */
export interface Environment {
  /** The few of our own that every program needs. A container has its own. */
  base: Readonly<Record<string, string>>;
  /** What the source names, with values: it wins. */
  given: Readonly<Record<string, string>>;
}

export async function resolveEnvironment(
  definition: SourceDefinition & { container: unknown },
  input: EnvironmentInput,
): Promise<Environment> {
  // Whether its author may use risky names was decided when it was registered; what is never allowed is looked for again.
  checkEnvironmentNames(definition, { allowRisky: true });
  const base = (definition.container === null ? baseNames : [])
    .map((name) => [name, input.baseEnvironment[name]] as const)
    .filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  const variables = await resolveVariables(definition, input);
  for (const [name, value] of variables) {
    if (!value.includes('\0')) continue;
    throw new CribError('VALIDATION_ERROR', `${name} contains a zero byte, which no environment can hold`, { field: fieldOf(name) });
  }
  return { base: Object.fromEntries(base), given: Object.fromEntries(variables) };
}

/** [ENV-5] What a remote server is sent with every request. */
export async function resolveHeaders(definition: SourceDefinition, input: EnvironmentInput): Promise<{ headers: Record<string, string> }> {
  checkEnvironmentNames(definition, { allowRisky: true });
  const fillIn = createSourceFillIn(definition, input);
  const headers = new Map<string, [name: string, value: string]>();
  for (const [variable, value] of await resolveVariables(definition, input)) {
    const header = headerOfVariable(variable, value);
    if (header === undefined) continue;
    checkHeaderName(header[0], fieldOf(variable));
    checkHeaderValue(header[1], fieldOf(variable));
    headers.set(header[0].toLowerCase(), header);
  }
  for (const [name, value] of Object.entries(definition.headers)) {
    const field = `headers.${name}`;
    const text = await fillIn.value(value, field);
    checkHeaderValue(text, field);
    headers.set(name.toLowerCase(), [name, text]);
  }
  return { headers: Object.fromEntries(headers.values()) };
}

/** [ENV-6] For the moment of registration. Names that decide which code runs need the permission to run commands. */
export function checkEnvironmentNames(
  { environment, env_definitions, headers }: Pick<SourceDefinition, 'environment' | 'env_definitions' | 'headers'>,
  { allowRisky = false }: { allowRisky?: boolean } = {},
): void {
  for (const name of Object.keys(environment)) checkVariableName(name, fieldOf(name), allowRisky);
  for (const [index, { name }] of env_definitions.entries()) checkVariableName(name, `env_definitions.${index}.name`, allowRisky);
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    checkHeaderName(name, `headers.${name}`);
    if (seen.has(name.toLowerCase())) {
      throw new CribError('VALIDATION_ERROR', `The header ${name} is there twice`, { field: `headers.${name}` });
    }
    seen.add(name.toLowerCase());
  }
}

/** Every variable that has a value, by name: those that were registered, and those a manifest declares and the source has a secret for. */
async function resolveVariables(definition: SourceDefinition, input: EnvironmentInput): Promise<Map<string, string>> {
  const fillIn = createSourceFillIn(definition, input);
  const declared = new Map(definition.env_definitions.map((variable) => [variable.name, variable]));
  const variables = new Map<string, string>();
  const missing: string[] = [];
  let cause: unknown;
  for (const name of new Set([...Object.keys(definition.environment), ...declared.keys()])) {
    const { required = false, secret = false } = declared.get(name) ?? {};
    let value: string | undefined;
    try {
      value = await fillIn.variable(name, fieldOf(name));
    } catch (error) {
      if (!required || !(error instanceof CribError) || error.code !== 'VALIDATION_ERROR') throw error;
      cause ??= error;
    }
    if (required && (value === undefined || value.trim() === '')) missing.push(name);
    if (value === undefined) continue;
    // One that is secret by its name alone may be as short as `true`, and hiding that would do more harm than good.
    if (secret || (value.length >= 8 && looksSecret(name))) input.redactor?.add(value);
    variables.set(name, value);
  }
  const [first] = missing;
  if (first === undefined) return variables;
  throw new CribError('VALIDATION_ERROR', 'Missing required credentials', { field: fieldOf(first), details: { missing }, cause });
}

function fieldOf(variable: string): string {
  return `environment.${variable}`;
}
