import type { CommandLine } from '../sources/registration/command-line.ts';
import { describeImport, importOf } from './describe-import.ts';
import { countTools, toolTable } from './describe-source.ts';
import { describeMissing } from './describe-missing.ts';
import { interruptSignal } from './interrupt-signal.ts';
import { openProgressLine } from './progress-line.ts';
import type { ShownPreview, SourceClient } from './source-client.ts';
import { complain, print, printJson, remark } from './terminal.ts';

interface Tried {
  kind: CommandLine;
  form: object;
}

/** [SRC-8] Tries a registration and says how it went; nothing is saved. */
export async function addDryRun(sources: SourceClient, { kind, form }: Tried, { json }: { json: boolean }): Promise<number> {
  const progress = openProgressLine('Trying it');
  const preview = await sources.preview(form, { discover: true, signal: interruptSignal() }).finally(() => progress.end());
  if (json) printJson(preview);
  else report(kind, preview);
  return preview.error === null ? 0 : 1;
}

function report(kind: CommandLine, preview: ShownPreview): void {
  const { namespace, definition, missing, tools, error } = preview;
  for (const line of kind.describePreview?.(definition, namespace) ?? []) remark(line);
  if (missing.length > 0) complain(describeMissing(kind, preview));
  else if (error !== null) complain(`The source does not work yet (${error.code}): ${error.message}`);
  const imported = importOf(preview);
  if (imported !== undefined) for (const line of describeImport(kind, imported, { hasCredential: false })) remark(line);
  if (tools === null) return;
  remark(`It would have ${countTools(tools.length)}. Nothing is saved.`);
  if (tools.length > 0) print(toolTable(tools));
}
