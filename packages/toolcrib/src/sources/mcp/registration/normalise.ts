import { isPerUser } from '../../../model/credential.ts';
import { mcpDefinitionSchema, type McpDefinition } from '../mcp-definition.ts';
import { isObject, type Json } from '../../../model/json.ts';
import { containerRegistration, isInContainer } from './container-registration.ts';
import { handlingOf } from '../../registration/common-fields.ts';
import { createDraft, type Draft } from '../../registration/draft.ts';
import { flatRegistration, type DefinitionParts } from './flat-registration.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import type { NormalisedRegistration } from '../../registration/normalised-registration.ts';
import { packageRegistration } from './package-registration.ts';
import { readPackage, type ReadPackage } from './read-package.ts';
import { perUserParts } from './per-user-parts.ts';
import { readCredential } from '../../registration/read-credential.ts';
import { keepReferred } from '../../registration/keep-referred.ts';
import { readNaming } from '../../registration/read-naming.ts';
import type { McpRegistrationContext } from './mcp-registration-context.ts';
import { referencesIn } from '../../../secrets/secret-looks.ts';
import { maskAddress } from '../../registration/mask-address.ts';

export async function normaliseRegistration(
  form: McpRegistration,
  context: McpRegistrationContext,
): Promise<NormalisedRegistration<McpDefinition>> {
  const naming = readNaming(form, context);
  const draft = createDraft(context);
  const described = readPackage(form);
  const { parts, starts } = await partsOf(draft, form, described, context);
  keepReferred(draft, [...(parts.command ?? []), parts.server_url ?? ''], context);
  const isLocal = starts !== null;
  if (isLocal && (form.headers !== undefined || (form.credential !== undefined && !isPerUser(form.credential)))) {
    throw invalid(
      form.headers === undefined ? 'credential' : 'headers',
      'A local server gets no headers. Give it environment variables instead',
    );
  }
  if (form.mcp_process_limits !== undefined && (starts === null || starts.runtime === 'docker')) {
    const instead = isLocal ? 'A container has mcp_container.limits instead' : 'A remote server uses no resources of this machine';
    throw invalid('mcp_process_limits', `${instead}. Take it out`);
  }
  const { allow_insecure: allowInsecure } = form;
  const credential = parts.credential ?? readCredential(draft, form.credential, { field: 'credential', allowInsecure });
  const perUser = perUserParts(draft, form, credential, { isLocal, url: parts.server_url ?? null });
  const missing = await missingValues(draft, context, described?.field('env_vars') ?? 'mcp_env_vars');
  if (missing.length > 0 && context.preview !== true) throw invalid(missing[0] ?? '', 'Missing required credentials', { missing });

  const definition = mcpDefinitionSchema.parse({
    ...parts,
    allow_insecure: allowInsecure,
    credential,
    ...perUser,
    config: withoutSecrets(parts.config ?? null, draft.secrets),
    url: form.url === undefined ? undefined : maskAddress(form.url),
    lifecycle_mode: form.mcp_lifecycle_mode,
    standby: form.standby,
    on_secret_change: form.on_secret_change,
    environment: Object.fromEntries(draft.environment),
    env_definitions: draft.definitions,
    headers: Object.fromEntries(draft.headers),
    ...handlingOf(form, context),
    process_limits: form.mcp_process_limits,
    register_resources_as_tools: form.register_resources_as_tools,
    origin: described?.origin,
  });
  return { ...naming, enabled: form.enabled, definition, secrets: draft.secrets, starts, missing, document: null };
}

async function partsOf(
  draft: Draft,
  form: McpRegistration,
  described: ReadPackage | undefined,
  context: McpRegistrationContext,
): Promise<DefinitionParts> {
  if (isInContainer(form, described)) return containerRegistration(draft, form, described, context);
  return described === undefined ? flatRegistration(draft, form, context) : packageRegistration(draft, form, described, context);
}

/** [SRC-10] Required values that are missing, or that refer to a secret or variable that does not exist. */
async function missingValues(draft: Draft, context: McpRegistrationContext, field: string): Promise<string[]> {
  const { hasSecret = async () => true, hasVariable = async () => true } = context;
  const { environment, definitions, secrets } = draft;
  const missing = [...draft.missing];
  for (const { name, required } of definitions) {
    const value = environment.get(name);
    if (!required || value === undefined || Object.hasOwn(secrets, name)) continue;
    // A variable that refers to its own name means the variable of that name outside the source.
    const outside = 'value' in value ? referencesIn(value.value).filter((other) => other === name || !environment.has(other)) : [];
    const found = await Promise.all('value' in value ? outside.map(hasVariable) : [hasSecret(value.secret_ref)]);
    if (found.includes(false)) missing.push(`${field}.${name}`);
  }
  return missing;
}

/** A value that is stored as a secret must not stay in the configuration it came from. */
function withoutSecrets(config: Json, secrets: Readonly<Record<string, string>>): Json {
  if (!isObject(config)) return config;
  const variableOf = new Map(Object.entries(secrets).map(([variable, value]) => [value, variable]));
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      const variable = typeof value === 'string' ? variableOf.get(value) : undefined;
      return [name, variable === undefined ? value : `\${${variable}}`];
    }),
  );
}
