import type { LookedUp } from '../../../model/looked-up.ts';
import type { Draft } from '../../registration/draft.ts';
import { invalid } from '../../registration/invalid.ts';
import type { McpRegistrationContext } from './mcp-registration-context.ts';
import { isRiskyVariable } from '../../upstream/variable-names.ts';
import { checkCommand } from './command-safety.ts';
import { declareVariables, givenVariables } from './declare-variables.ts';
import type { DefinitionParts } from './flat-registration.ts';
import type { McpRegistration } from './forms.ts';
import { localParts } from './local-server.ts';
import { lookedUpManifest } from './looked-up-manifest.ts';
import type { ManifestPackage, ManifestRemote, ManifestVariable } from './manifest-model.ts';
import { packageCommand } from './package-command.ts';
import { packageContainer, refuseContainer } from './package-container.ts';
import type { ReadPackage } from './read-package.ts';
import { readVariables, slotFiller } from './read-variables.ts';
import { remoteParts } from './remote-server.ts';
import { withoutOpenParameters } from './without-open-parameters.ts';

interface FoundInRegistry {
  lookedUp: LookedUp;
  context: McpRegistrationContext;
}

/** [SRC-2] A server given only by its name in a registry: its first package that can be started here, else its address. */
export async function registryRegistration(
  draft: Draft,
  form: McpRegistration,
  described: ReadPackage,
  { lookedUp, context }: FoundInRegistry,
): Promise<DefinitionParts> {
  const { transport, field } = described;
  const { packages, remotes, unsupported } = lookedUpManifest(lookedUp, field('source'));
  const found = packages.find((one) => transport?.type !== 'http' && one.transport !== 'streamable_http');
  if (found !== undefined) return started(draft, form, described, { found, context, lookedUp });
  const address = transport?.type === 'http' ? transport.url : undefined;
  const remote = remotes.find(({ url }) => transport?.type !== 'stdio' && (address === undefined || address === url));
  if (remote !== undefined) return connected(draft, form, described, { remote, lookedUp });
  const others = remotes.map(({ url }) => url).join(', ');
  const why =
    address !== undefined && others !== ''
      ? `its addresses are ${others}`
      : (unsupported[0] ?? 'it has no package that can be started here');
  throw invalid(
    field('source'),
    `${lookedUp.name} cannot be used as the registry describes it: ${why}. Give package and transport yourself`,
  );
}

async function started(
  draft: Draft,
  form: McpRegistration,
  described: ReadPackage,
  { found, context, lookedUp }: FoundInRegistry & { found: ManifestPackage },
): Promise<DefinitionParts> {
  const { config, field } = described;
  const { allowedMounts = [] } = context;
  if (found.package === null)
    throw invalid(field('source'), `${lookedUp.name} has no package that can be started here. Give package and transport yourself`);
  checkDeclared(found.variables, field('source'));
  const filler = slotFiller(draft, config, field('config'));
  readVariables(draft, { given: givenVariables(described), declared: found.variables, filler, config, field: field('env_vars') });
  declareVariables(draft, described, { declared: found.variables });
  const options = {
    variables: [...draft.environment.keys()],
    container: packageContainer(form, context, found.package.type === 'docker'),
    allowedMounts,
    field: field('source'),
    allowRisky: false,
  };
  const runtimeArguments = found.runtimeArguments.flatMap(filler.argument);
  const args = found.arguments.flatMap(filler.argument);
  for (const slot of filler.missing) draft.missing.push(field(`config.${slot}`));
  const { parts, starts } = await localParts(draft, {
    pluginDir: null,
    manifestPath: null,
    cwd: form.mcp_cwd ?? null,
    transport: found.transport === 'sse' ? 'sse' : 'stdio',
    runtime: found.runtime,
    command: packageCommand(found.package, { ...options, runtimeArguments, args }),
    config,
    field: field('source'),
    allowRisky: false,
    allowedMounts,
  });
  const own = checkCommand(packageCommand(found.package, options), { field: field('source'), allowedMounts });
  if (JSON.stringify(starts.runs) !== JSON.stringify(own.runs))
    throw invalid(
      field('source'),
      `The registry's description of ${lookedUp.name} starts something other than its package: ${starts.runs.join(', ')}`,
    );
  return { parts: { ...parts, looked_up: lookedUp }, starts };
}

/** Strangers write the descriptions, so these must not set variables that decide which code is run. */
export function checkDeclared(variables: readonly ManifestVariable[], field: string): void {
  const risky = variables.find(({ name }) => isRiskyVariable(name));
  if (risky === undefined) return;
  throw invalid(
    field,
    `The registry's description sets ${risky.name}, which decides which code is run or trusted. Give package and transport yourself, without source`,
  );
}

function connected(
  draft: Draft,
  form: McpRegistration,
  described: ReadPackage,
  { remote, lookedUp }: { remote: ManifestRemote; lookedUp: LookedUp },
): DefinitionParts {
  const { config, field } = described;
  refuseContainer(form);
  const filler = slotFiller(draft, config, field('config'));
  const url = withoutOpenParameters(remote, config);
  const input = { description: '', required: true, secret: false, value: url, variables: remote.variables };
  const parts = remoteParts(draft, {
    url: filler.text(input, 'url') ?? url,
    transport: remote.transport,
    given: givenVariables(described),
    headers: form.headers ?? {},
    declaredHeaders: remote.headers,
    filler,
    credential: form.credential,
    allowInsecure: form.allow_insecure,
    urlField: field('source'),
    variablesField: field('env_vars'),
  });
  declareVariables(draft, described, { isRemote: true });
  for (const slot of filler.missing) draft.missing.push(field(`config.${slot}`));
  return { parts: { ...parts, config, looked_up: lookedUp }, starts: null };
}
