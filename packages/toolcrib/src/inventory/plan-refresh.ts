import type { Pinning } from '../model/source-definition.ts';
import type { RefreshReport } from '../model/refresh-report.ts';
import type { SourceRecord } from '../model/source.ts';
import type { DiscoveredTool, ToolRecord } from '../model/tool.ts';
import { definitionFlags } from './definition-flags.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import { nameKeys } from './name-keys.ts';
import { isWaiting, pin } from './pinning.ts';
import { toolId } from './tool-id.ts';

interface RefreshPlan {
  report: RefreshReport;
  toWrite: ToolRecord[];
}

interface PlanInput {
  source: SourceRecord;
  known: readonly ToolRecord[];
  discovered: readonly DiscoveredTool[];
  now: number;
}

/** [INV-2] The changes that turn the stored tools of a source into the discovered ones. Unchanged tools are not written. */
export function planRefresh({ source, known, discovered, now }: PlanInput): RefreshPlan {
  const pinning: Pinning = source.definition?.pinning ?? 'off';
  const records = new Map(known.map((record) => [record.tool_id, record]));
  const taken = renamedNames(source, known);
  const stillThere = known.filter(({ state }) => state !== 'deprecated').map((record) => record.discovered);
  const report: RefreshReport = {
    at: now,
    added: [],
    changed: [],
    removed: [],
    left_out: [],
    waiting: [],
    flagged: [],
    server_version: { before: versionOf(stillThere), after: versionOf(discovered) },
  };
  const toWrite: ToolRecord[] = [];

  for (const found of discovered) {
    const { name } = found.definition;
    const tool_id = toolId(source.id, name);
    const before = records.get(tool_id);
    records.delete(tool_id);
    // [INV-5] Callers know another tool by this name: this one must not answer for it.
    if (before === undefined && nameKeys(source, name).some((key) => taken.has(key))) {
      report.left_out.push(name);
      continue;
    }
    const pinned = pin(found, before, pinning);
    if (before !== undefined && isSame(before, pinned)) continue;
    if (before === undefined || before.state === 'deprecated') report.added.push(name);
    else if (before.definition_hash !== pinned.definition_hash || !isSameBeside(before.discovered, found)) report.changed.push(name);
    toWrite.push({
      tool_id,
      source_id: source.id,
      ...pinned,
      overrides: before?.overrides ?? {},
      created_at: before?.created_at ?? now,
      updated_at: now,
    });
  }
  if (pinning !== 'off') remark(report, toWrite);

  for (const vanished of records.values()) {
    if (vanished.state === 'deprecated') continue;
    report.removed.push(vanished.discovered.definition.name);
    toWrite.push({ ...vanished, state: 'deprecated', updated_at: now });
  }
  return { report, toWrite };
}

/** The changes that a person should hear of where definitions are pinned. */
function remark(report: RefreshReport, written: readonly ToolRecord[]): void {
  for (const record of written) {
    const { definition } = record.discovered;
    if (isWaiting(record)) report.waiting.push(definition.name);
    const kinds = [...new Set(definitionFlags(definition).map(({ kind }) => kind))];
    if (kinds.length > 0) report.flagged.push({ tool: definition.name, kinds });
  }
}

function renamedNames(source: SourceRecord, known: readonly ToolRecord[]): Set<string> {
  return new Set(known.flatMap(({ overrides: { rename } }) => (rename === undefined ? [] : nameKeys(source, rename))));
}

/** The tools of a server carry the version it had at discovery. */
function versionOf(tools: readonly DiscoveredTool[]): string | null {
  return tools.find(({ version }) => version !== undefined)?.version ?? null;
}

function isSame(before: ToolRecord, after: ReturnType<typeof pin>): boolean {
  return (
    before.state === after.state &&
    before.approved_hash === after.approved_hash &&
    canonicalJson(before.discovered) === canonicalJson(after.discovered)
  );
}

/** Everything a source says besides the definition, except the version: a new version alone changes no tool. */
function isSameBeside(before: DiscoveredTool, after: DiscoveredTool): boolean {
  const beside = ({ definition: _definition, version: _version, ...rest }: DiscoveredTool) => canonicalJson(rest);
  return beside(before) === beside(after);
}
