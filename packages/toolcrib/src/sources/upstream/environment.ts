import type { SourceDefinition } from '../../model/source-definition.ts';
import { CribError } from '../../model/crib-error.ts';
import { createFillIn, type FillIn } from '../../secrets/fill-in.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { checkHeaderName, checkHeaderValue, headerOfVariable } from './header-rules.ts';
import { looksSecret } from '../../secrets/secret-looks.ts';
import { baseNames, checkVariableName } from './variable-names.ts';

export interface EnvironmentInput {
  secrets: Pick<SecretStore, 'get'>;
  /** The source whose own secrets may be used. */
  sourceId?: string;
  /** [ENV-2] Our environment variables that the operator lets sources refer to. */
  allowedNames: ReadonlySet<string>;
  /** Our own environment. A child process gets only the few variables that every program needs. */
  baseEnvironment: Readonly<Record<string, string | undefined>>;
  /** Gets every secret value, to remove it from the server's responses and logs. */
  redactor?: Pick<Redactor, 'add'>;
}

/** Fills in `${VAR}` for a source: in its variables, and wherever else its definition has values. */
export function createSourceFillIn(definition: SourceDefinition, input: EnvironmentInput): FillIn {
  const { secrets, sourceId, allowedNames, baseEnvironment: environment, redactor } = input;
  return createFillIn({ secrets, sourceId, allowedNames, environment, redactor, declared: definition.environment });
}

/** [ENV-1] [ENV-3] The whole environment of a child process: nothing else of ours is passed on. */
export interface Environment {
  /** The few variables of our own that every program needs; none for a container, which has its own. */
  base: Readonly<Record<string, string>>;
  /** The variables of the source, which override those of `base`. */
  given: Readonly<Record<string, string>>;
}

export async function resolveEnvironment(
  definition: SourceDefinition & { container: unknown },
  input: EnvironmentInput,
): Promise<Environment> {
  // Risky names were decided on at registration. Names that are never allowed are checked again.
  checkEnvironmentNames(definition, { allowRisky: true });
  const base = (definition.container === null ? baseNames : [])
    .map((name) => [name, input.baseEnvironment[name]] as const)
    .filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  const variables = await resolveVariables(definition, input);
  for (const [name, value] of variables) {
    if (!value.includes('\0')) continue;
    throw new CribError('VALIDATION_ERROR', `${name} contains a NUL character, which environment variables cannot contain`, {
      field: fieldOf(name),
    });
  }
  return { base: Object.fromEntries(base), given: Object.fromEntries(variables) };
}

/** [ENV-5] The headers of every request to a remote server. */
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

/** [ENV-6] Checks the names of variables and headers. Names that decide which code runs need the permission to run commands. */
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
      throw new CribError('VALIDATION_ERROR', `The header ${name} is given twice: remove one`, { field: `headers.${name}` });
    }
    seen.add(name.toLowerCase());
  }
}

/** The variables that have a value, by name: registered ones, and those that a manifest declares and the source has a secret for. */
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
    // A value that is secret by its name alone may be as short as `true`, and redacting that would do more harm than good.
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
