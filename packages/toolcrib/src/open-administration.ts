import { createApprovalAdministration, type ApprovalAdministration } from './administration/approvals.ts';
import { createMakeChange } from './administration/change-log.ts';
import { createConfigurationAdministration, type ConfigurationAdministration } from './administration/configuration/configuration.ts';
import { createConnectionAdministration, type ConnectionAdministration } from './administration/connections.ts';
import { createImportSources, type ImportSources } from './administration/import-sources.ts';
import { createGroupAdministration, type GroupAdministration } from './administration/groups.ts';
import { createPolicyAdministration, type PolicyAdministration } from './administration/policies.ts';
import { createScopeOf } from './administration/registration-scope.ts';
import { createRunPermission, type RunPermission } from './administration/run-permission.ts';
import { createSecretAdministration, type SecretAdministration } from './administration/secrets.ts';
import { createSourcePreview, type PreviewSource } from './administration/source-preview.ts';
import { createSourceAdministration, type SourceAdministration } from './administration/sources.ts';
import { createToolAdministration, type ToolAdministration } from './administration/tools.ts';
import { createWireLogAdministration, type WireLogAdministration } from './administration/wire-log.ts';
import { createRegistryLookup, publicRegistries } from './sources/mcp/registry/registry-lookup.ts';
import type { CribConfig } from './crib-config.ts';

/** What administrators see and change. */
export interface Administration {
  readonly secrets: SecretAdministration;
  readonly groups: GroupAdministration;
  readonly policies: PolicyAdministration;
  readonly sources: SourceAdministration;
  readonly previewSource: PreviewSource;
  readonly importSources: ImportSources;
  readonly runPermission: RunPermission;
  readonly tools: ToolAdministration;
  readonly approvals: ApprovalAdministration;
  readonly connections: ConnectionAdministration;
  readonly configuration: ConfigurationAdministration;
  readonly wireLog: WireLogAdministration;
}

type InputOf<Create extends (input: never) => unknown> = Parameters<Create>[0];

/** The parts of the crib that are changed, and how a source is tried before it is there. */
type AdministrationInput = InputOf<typeof createMakeChange> &
  Omit<InputOf<typeof createSourceAdministration>, 'scopeOf' | 'runPermission' | 'change'> &
  Pick<InputOf<typeof createSourcePreview>, 'createOpener' | 'importDocument' | 'forgotten'> &
  Pick<InputOf<typeof createConnectionAdministration>, 'connections' | 'speakers'> &
  Pick<InputOf<typeof createScopeOf>, 'allowedNames'> &
  Pick<InputOf<typeof createRegistryLookup>, 'egress'> &
  Pick<InputOf<typeof createWireLogAdministration>, 'wireLogs'>;

export function openAdministration(config: CribConfig, input: AdministrationInput): Administration {
  const { store, counter, supervisor, secrets, speakers, wireLogs } = input;
  const { development = false, allowedMounts = [], pinning, warn } = config;
  const change = createMakeChange(input);
  const runPermission = createRunPermission(config.runners);
  const lookUp = createRegistryLookup({ ...input, registries: { ...publicRegistries, ...config.registries } });
  const scopeOf = createScopeOf({ ...input, allowedMounts, lookUp, pinning });
  const sources = createSourceAdministration({ ...input, scopeOf, runPermission, change });
  const administration = {
    secrets: createSecretAdministration({
      secrets,
      async changed() {
        speakers.forget();
        await supervisor
          .secretsChanged()
          .catch((error: unknown) => warn(`Changed secrets could not be brought to what runs: ${String(error)}`));
      },
      keptBy: (name) =>
        [...counter.sources.values()].filter(({ id }) => supervisor.outdatedSecretsOf(id).includes(name)).map(({ namespace }) => namespace),
    }),
    groups: createGroupAdministration({ change }),
    policies: createPolicyAdministration({ change, development }),
    sources,
    importSources: createImportSources({ counter, sources, scopeOf, secrets }),
    previewSource: createSourcePreview({ ...input, scopeOf, runPermission, change }),
    runPermission,
    tools: createToolAdministration({ counter, change }),
    approvals: createApprovalAdministration({ store, counter, change }),
    connections: createConnectionAdministration({ ...input, publicUrl: config.publicUrl ?? 'http://127.0.0.1' }),
    wireLog: createWireLogAdministration({ wireLogs, change }),
  };
  return { ...administration, configuration: createConfigurationAdministration({ ...input, ...administration, scopeOf, development }) };
}
