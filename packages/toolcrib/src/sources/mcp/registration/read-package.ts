import type { Json } from '../../../model/json.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import { invalid } from '../../registration/invalid.ts';
import type { McpRegistration } from './forms.ts';
import { packageFields, type PackageForm, type PackageVariables } from './package-form.ts';
import type { Runtime } from './runtime.ts';

interface ReadVariable {
  value: string | undefined;
  secretRef: string | undefined;
  secret: boolean;
  required: boolean;
}

/** A server described by its package, the same for every way of writing it. */
export interface ReadPackage {
  package: ReadPackageSpec | undefined;
  transport: { type: 'stdio' } | { type: 'http'; url: string } | undefined;
  origin: McpDefinition['origin'];
  variables: Map<string, ReadVariable>;
  config: Json;
  /** The path of a field in the request: `mcp.package` or `package`. */
  field(name: string): string;
}

export interface ReadPackageSpec {
  type: 'npm' | 'pypi' | 'docker' | 'binary' | 'http';
  identifier: string;
  version: string | undefined;
  program: string | undefined;
  with: string[] | undefined;
  runtimeHint: Runtime | undefined;
  args: string[];
}

const names = Object.keys(packageFields) as (keyof PackageForm)[];

/** [SRC-2] The package that a registration describes, under `mcp` or, as in an `McpConfig`, at the top level; undefined without one. */
export function readPackage(form: McpRegistration): ReadPackage | undefined {
  const { mcp } = form;
  const atTop = names.find((name) => (form[name] ?? null) !== null);
  if (mcp === undefined) return atTop === undefined ? undefined : read(form, '');
  if (atTop !== undefined) throw invalid(atTop, `${atTop} and mcp.${atTop} describe the same thing twice. Take one of them out`);
  return read(mcp, 'mcp.');
}

function read(form: PackageForm, at: 'mcp.' | ''): ReadPackage {
  const field = (name: string) => `${at}${name}`;
  return {
    package: form.package == null ? undefined : specOf(form.package),
    transport: form.transport == null ? undefined : transportOf(form.transport),
    origin: originOf(form.source ?? 'manual'),
    variables: variablesOf(form.env_vars ?? {}, field('env_vars')),
    config: form.config ?? null,
    field,
  };
}

function specOf(found: NonNullable<PackageForm['package']>): ReadPackageSpec {
  return {
    type: found.package_type.toLowerCase() as ReadPackageSpec['type'],
    identifier: found.identifier?.trim() ?? '',
    version: found.version ?? undefined,
    program: found.program ?? undefined,
    with: found.with ?? undefined,
    runtimeHint: found.runtime_hint ?? undefined,
    args: found.args ?? [],
  };
}

function transportOf(transport: NonNullable<PackageForm['transport']>): ReadPackage['transport'] {
  if (typeof transport === 'string') return { type: 'stdio' };
  if ('type' in transport) return transport;
  return { type: 'http', url: 'Http' in transport ? transport.Http.url : transport.http.url };
}

function originOf(origin: NonNullable<PackageForm['source']>): McpDefinition['origin'] {
  if (typeof origin === 'string') return 'manual';
  if ('Official' in origin) return { official: origin.Official };
  return 'Smithery' in origin ? { smithery: origin.Smithery } : origin;
}

function variablesOf(given: PackageVariables, at: string): ReadPackage['variables'] {
  const variables: ReadPackage['variables'] = new Map();
  const entries = Array.isArray(given) ? given.map((variable) => [variable.name, variable] as const) : Object.entries(given);
  for (const [name, written] of entries) {
    const field = `${at}.${name}`.slice(0, 500);
    const variable = typeof written === 'string' ? { value: written, is_secret: false, required: false } : written;
    const { value, secret_ref: secretRef, is_secret: secret, required } = variable;
    if (variables.has(name)) throw invalid(field, 'The variable is given twice. Take one of them out');
    if ((variable.name ?? name) !== name) throw invalid(`${field}.name`, 'The key and the name of a variable must be the same');
    if (value != null && secretRef != null) throw invalid(field, 'Give a value or a secret_ref, not both');
    variables.set(name, { value: value ?? undefined, secretRef: secretRef ?? undefined, secret, required });
  }
  return variables;
}
