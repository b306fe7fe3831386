import type { Inventory } from '../inventory/inventory.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { laterThan } from './later-than.ts';
import { refuseOvertaken, type Seen } from './refuse-overtaken.ts';
import { createSaveSource, existingSource, recordedSource, type Management, type SavedAs, type SaveSourceInput } from './save-source.ts';

export interface SourceAdministration {
  /** [SRC-9] Saves the source and starts it in the background. If the start fails, the source stays, with its error. */
  register(actor: Principal, form: SourceForm, managed?: Management): Promise<SourceRecord>;
  replace(actor: Principal, id: string, form: SourceForm, managed?: Management & Seen): Promise<SourceRecord>;
  delete(actor: Principal, id: string, options?: Seen): Promise<void>;
  /** [LIFE-7] A source that cannot be started is disabled again. */
  setEnabled(actor: Principal, id: string, enabled: boolean): Promise<SourceRecord>;
  /** [SEC-4] Recorded although the source is not changed: all its users notice. */
  operate(actor: Principal, id: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
}

interface SourceAdministrationInput extends SaveSourceInput {
  inventory: Inventory;
  supervisor: Supervisor;
}

export function createSourceAdministration(input: SourceAdministrationInput): SourceAdministration {
  const { inventory, supervisor, secrets, change } = input;
  const saveSource = createSaveSource(input);

  async function save(actor: Principal, kind: string, form: SourceForm, as: SavedAs): Promise<SourceRecord> {
    const { source, isSame } = await saveSource(actor, kind, form, as);
    if (isSame) return source;
    secrets.forget();
    await adoptCurrent(source.id);
    if (source.enabled) startInBackground(source.id);
    return source;
  }

  /** Reads the source again: it may have been changed or deleted since it was saved. */
  async function adoptCurrent(id: string): Promise<void> {
    const current = inventory.sources.get(id);
    if (current !== undefined) await supervisor.adopt(current);
  }

  /** The status and the log of the source say how the start went. */
  function startInBackground(id: string): void {
    supervisor.start(id).catch(() => undefined);
  }

  async function setEnabled(actor: Principal, id: string, enabled: boolean, options: Seen = {}): Promise<SourceRecord> {
    const kind = enabled ? 'source-enabled' : 'source-disabled';
    let source: SourceRecord | undefined;
    await change(actor, { kind, topic: 'source', subject: id }, async (tx) => {
      const before = await existingSource(tx, id);
      refuseOvertaken(before, options);
      const after = { ...before, enabled, updated_at: laterThan(before) };
      await tx.sources.upsert(after);
      source = after;
      return { before: recordedSource(before), after: recordedSource(after) };
    });
    await adoptCurrent(id);
    return source as SourceRecord;
  }

  return {
    register: (actor, form, managed = {}) => save(actor, 'source-created', form, managed),
    replace: (actor, id, form, options = {}) => save(actor, 'source-changed', form, { ...options, replaced: id }),
    async delete(actor, id, options = {}) {
      await change(actor, { kind: 'source-deleted', topic: 'source', subject: id }, async (tx) => {
        const before = await existingSource(tx, id);
        refuseOvertaken(before, options);
        await tx.sources.delete(id);
        await secrets.within(tx).deleteOf(id);
        return { before: recordedSource(before), after: null };
      });
      secrets.forget();
      await supervisor.release(id);
    },
    async operate(actor, id, action) {
      await change(actor, { kind: operated[action], topic: 'source', subject: id }, async (tx) => {
        await existingSource(tx, id);
        return { before: null, after: null };
      });
      await supervisor[action](id);
    },
    async setEnabled(actor, id, enabled) {
      const source = await setEnabled(actor, id, enabled);
      if (!enabled) return source;
      try {
        await supervisor.start(id);
      } catch (error) {
        // Unless the source was changed meanwhile: the failed start was not that of the new version.
        await setEnabled(actor, id, false, { seen: source.updated_at }).catch(ignoreChanged);
        throw error;
      }
      return source;
    },
  };
}

function ignoreChanged(error: unknown): void {
  if (!(error instanceof CribError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND'))) throw error;
}

const operated = { start: 'source-started', stop: 'source-stopped', restart: 'source-restarted' } as const;
