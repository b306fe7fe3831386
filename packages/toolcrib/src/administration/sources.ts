import { randomUUID } from 'node:crypto';
import type { Counter } from '../inventory/counter.ts';
import type { Container } from '../model/container.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import type { McpRegistration } from '../sources/mcp/registration/forms.ts';
import { mergeUpdate } from '../sources/mcp/registration/merge-update.ts';
import { normaliseRegistration } from '../sources/mcp/registration/normalise.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { MakeChange } from './change-log.ts';
import { registrationScope } from './registration-scope.ts';

export interface SourceAdministration {
  /** [SRC-9] Saved and being started; a start that fails leaves it there with its error. */
  register(actor: Principal, form: McpRegistration): Promise<SourceRecord>;
  replace(actor: Principal, id: string, form: McpRegistration): Promise<SourceRecord>;
  delete(actor: Principal, id: string): Promise<void>;
  /** [LIFE-7] A source that cannot be started is not enabled either. */
  setEnabled(actor: Principal, id: string, enabled: boolean): Promise<SourceRecord>;
}

interface SourceAdministrationInput {
  counter: Counter;
  supervisor: Supervisor;
  secrets: SecretStore;
  /** [ENV-2] Environment variables of ours that sources may name. */
  allowedNames: ReadonlySet<string>;
  /** Directories of ours that containers may mount. */
  allowedMounts: readonly string[];
  /** [SRC-3] Refuses a container in which nobody may start servers. */
  checkContainer(container: Container): Promise<void>;
  change: MakeChange;
}

export function createSourceAdministration({
  counter,
  supervisor,
  secrets,
  allowedNames,
  allowedMounts,
  checkContainer,
  change,
}: SourceAdministrationInput): SourceAdministration {
  function existing(id: string): SourceRecord {
    const source = counter.sources.get(id);
    if (source === undefined) throw new CribError('NOT_FOUND', 'There is no such source');
    if (source.definition === null) throw new CribError('CONFLICT', 'The built-in tools cannot be changed');
    return source;
  }

  /** The source and the secrets that were taken out of its form, written together. */
  async function save(actor: Principal, kind: string, form: McpRegistration, known?: SourceRecord): Promise<SourceRecord> {
    const id = known?.id ?? randomUUID();
    const merged = known?.definition == null ? form : mergeUpdate(known.definition, form);
    const normalised = await normaliseRegistration(merged, registrationScope({ sourceId: id, secrets, allowedNames, allowedMounts }));
    const { name, namespace, enabled, definition } = normalised;
    if (definition.container !== null) await checkContainer(definition.container);
    const now = laterThan(known);
    const source: SourceRecord = {
      id,
      name,
      namespace,
      source_type: 'mcp',
      enabled,
      definition,
      created_at: known?.created_at ?? now,
      updated_at: now,
    };
    await change(actor, { kind, topic: 'source', subject: id }, async (tx) => {
      await tx.sources.upsert(source);
      const writer = secrets.within(tx);
      for (const [variable, value] of Object.entries(normalised.secrets)) await writer.put(sourceSecretName(id, variable), value);
      return { before: known ?? null, after: source };
    });
    secrets.forget();
    await supervisor.adopt(source);
    if (enabled) startInBackground(id);
    return source;
  }

  /** Its status and its log say how it went. */
  function startInBackground(id: string): void {
    supervisor.start(id).catch(() => undefined);
  }

  async function setEnabled(actor: Principal, id: string, enabled: boolean): Promise<SourceRecord> {
    const before = existing(id);
    const source = { ...before, enabled, updated_at: laterThan(before) };
    const kind = enabled ? 'source-enabled' : 'source-disabled';
    await change(actor, { kind, topic: 'source', subject: id }, async (tx) => {
      await tx.sources.upsert(source);
      return { before, after: source };
    });
    await supervisor.adopt(source);
    return source;
  }

  return {
    register: (actor, form) => save(actor, 'source-created', form),
    replace: (actor, id, form) => save(actor, 'source-changed', form, existing(id)),
    async delete(actor, id) {
      const before = existing(id);
      await change(actor, { kind: 'source-deleted', topic: 'source', subject: id }, async (tx) => {
        await tx.sources.delete(id);
        await secrets.within(tx).deleteOf(id);
        return { before, after: null };
      });
      secrets.forget();
      await supervisor.release(id);
    },
    async setEnabled(actor, id, enabled) {
      const source = await setEnabled(actor, id, enabled);
      if (!enabled) return source;
      try {
        await supervisor.start(id);
      } catch (error) {
        await setEnabled(actor, id, false);
        throw error;
      }
      return source;
    },
  };
}

/** Two changes within a millisecond are two changes: by this it is seen whether a definition is the one that runs. */
function laterThan(known: SourceRecord | undefined): number {
  return Math.max(Date.now(), (known?.updated_at ?? 0) + 1);
}
