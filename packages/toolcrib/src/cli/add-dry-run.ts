import { describeRegistry } from './describe-registry.ts';
import { countTools, commandLine, toolTable } from './describe-source.ts';
import { describeImport, importOf } from './describe-import.ts';
import { describeMissing } from './describe-missing.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { openProgressLine } from './progress-line.ts';
import type { ShownPreview, SourceClient } from './source-client.ts';
import { complain, print, printJson, remark } from './terminal.ts';

/** [SRC-8] Tries a registration and says how it went; nothing is saved. */
export async function addDryRun(sources: SourceClient, form: unknown, { json }: { json: boolean }): Promise<number> {
  const progress = openProgressLine('Trying it');
  const preview = await sources.preview(form, { discover: true, signal: interruptSignal() }).finally(() => progress.end());
  if (json) printJson(preview);
  else report(preview);
  return preview.error === null ? 0 : 1;
}

function report(preview: ShownPreview): void {
  const { namespace, definition, starts, missing, tools, error } = preview;
  const { container, looked_up: found } = definition;
  if (found != null) remark(`${describeRegistry(found)} says what is started and needed.`);
  const where = container === null ? '' : container.name === null ? ` in a container of ${container.image}` : ` in ${container.name}`;
  if (starts !== null) remark(`${namespace} would be started with ${commandLine(starts.command)}${where}`);
  else if (definition.document === undefined) remark(`${namespace} would be connected to at ${definition.server_url ?? 'its address'}`);
  if (missing.length > 0) complain(describeMissing(preview));
  else if (error !== null) complain(`It does not work yet (${error.code}): ${error.message}`);
  const imported = importOf(preview);
  if (imported !== undefined) for (const line of describeImport(imported, { hasCredential: false })) remark(line);
  if (tools === null) return;
  remark(`It would have ${countTools(tools.length)}. Nothing is saved.`);
  if (tools.length > 0) print(toolTable(tools));
}
