import { createApprovalAdministration, type ApprovalAdministration } from './administration/approvals.ts';
import { createMakeChange } from './administration/change-log.ts';
import { createConfigurationAdministration, type ConfigurationAdministration } from './administration/configuration/configuration.ts';
import { createConnectionAdministration, type ConnectionAdministration } from './administration/connections.ts';
import { createExplainAccess, type ExplainAccess } from './administration/explain-access.ts';
import { createImportSources, type ImportSources } from './administration/import-sources.ts';
import { createGroupAdministration, type GroupAdministration } from './administration/groups.ts';
import { createPolicyAdministration, type PolicyAdministration } from './administration/policies.ts';
import { createRecords, type Records } from './administration/records.ts';
import { createScopeOf } from './administration/registration-scope.ts';
import { createRunPermission, type RunPermission } from './administration/run-permission.ts';
import { createSecretAdministration, type SecretAdministration } from './administration/secrets.ts';
import { createSourcePreview, type PreviewSource } from './administration/source-preview.ts';
import { createSourceReads, type SourceReads } from './administration/source-reads.ts';
import { createSourceAdministration, type SourceAdministration } from './administration/sources.ts';
import { createToolAdministration, type ToolAdministration } from './administration/tools.ts';
import { createWireLogAdministration, type WireLogAdministration } from './administration/wire-log.ts';
import type { CribConfig } from './crib-config.ts';

/** Everything that administrators can read and change. */
export interface Administration {
  readonly secrets: SecretAdministration;
  readonly groups: GroupAdministration;
  readonly policies: PolicyAdministration;
  readonly explainAccess: ExplainAccess;
  readonly sources: SourceAdministration & SourceReads;
  readonly previewSource: PreviewSource;
  readonly importSources: ImportSources;
  readonly runPermission: RunPermission;
  readonly tools: ToolAdministration;
  readonly approvals: ApprovalAdministration;
  readonly connections: ConnectionAdministration;
  readonly configuration: ConfigurationAdministration;
  readonly wireLog: WireLogAdministration;
  readonly records: Records;
}

type InputOf<Create extends (input: never) => unknown> = Parameters<Create>[0];

/** The parts of the crib that the administration changes, and how it tries a source before saving it. */
type AdministrationInput = InputOf<typeof createMakeChange> &
  Omit<InputOf<typeof createSourceAdministration>, 'scopeOf' | 'runPermission' | 'change'> &
  Pick<InputOf<typeof createSourcePreview>, 'trialOf' | 'onTried'> &
  Pick<InputOf<typeof createConnectionAdministration>, 'connections' | 'connectionOwners'> &
  Pick<InputOf<typeof createScopeOf>, 'allowedNames' | 'egress'> &
  Pick<InputOf<typeof createWireLogAdministration>, 'wireLogs'> &
  Pick<InputOf<typeof createToolAdministration>, 'unusableSchema'> &
  InputOf<typeof createSourceReads> &
  InputOf<typeof createRecords>;

export function openAdministration(config: CribConfig, input: AdministrationInput): Administration {
  const { store, inventory, supervisor, secrets, connectionOwners, wireLogs } = input;
  const { development = false, pinning, warn } = config;
  const change = createMakeChange(input);
  const runPermission = createRunPermission(config.runners);
  const scopeOf = createScopeOf({ ...input, pinning });
  const sources = { ...createSourceReads(input), ...createSourceAdministration({ ...input, scopeOf, runPermission, change }) };
  const administration = {
    secrets: createSecretAdministration({
      secrets,
      async changed() {
        connectionOwners.forget();
        await supervisor
          .secretsChanged()
          .catch((error: unknown) => warn(`Changed secrets could not be passed to running sources: ${String(error)}`));
      },
      keptBy: (name) =>
        [...inventory.sources.values()]
          .filter(({ id }) => supervisor.outdatedSecretsOf(id).includes(name))
          .map(({ namespace }) => namespace),
    }),
    groups: createGroupAdministration({ store, change }),
    policies: createPolicyAdministration({ store, change, development }),
    explainAccess: createExplainAccess(input),
    sources,
    importSources: createImportSources({ inventory, sources, scopeOf, secrets }),
    previewSource: createSourcePreview({ ...input, scopeOf, runPermission, change }),
    runPermission,
    tools: createToolAdministration({ ...input, change }),
    approvals: createApprovalAdministration({ store, inventory, change }),
    connections: createConnectionAdministration({ ...input, publicUrl: config.publicUrl ?? 'http://127.0.0.1' }),
    wireLog: createWireLogAdministration({ wireLogs, change }),
    records: createRecords(input),
  };
  return { ...administration, configuration: createConfigurationAdministration({ ...input, ...administration, scopeOf, development }) };
}
