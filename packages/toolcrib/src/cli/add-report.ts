import { describeGrant } from './describe-grant.ts';
import { describeImport, importOf } from './describe-import.ts';
import { countTools, toolTable } from './describe-source.ts';
import { exampleCall } from './example-call.ts';
import { grantingPolicies } from './granting-policies.ts';
import { kindOf } from './kinds.ts';
import { reportFailedStart } from './report-failed-start.ts';
import type { Administrator, ShownSource } from './source-client.ts';
import { sourceTools, type ShownTool } from './source-tools.ts';
import { print, remark } from './terminal.ts';

/** More than this fills several screens. */
const mostTools = 100;

interface AddReportOptions {
  /** A command in the form in which this one was typed. */
  asTyped(command: string): string;
}

/** Reports on a source that was added: its tools and who may use them, or why it does not run. */
export async function addReport(administrator: Administrator, source: ShownSource, { asTyped }: AddReportOptions): Promise<void> {
  const { namespace, status } = source;
  if (status.state === 'error') {
    const { message, summary = message, code, retry_at: retryAt } = status;
    return reportFailedStart({ namespace, what: 'could not be started', message: summary, code, retryAt });
  }
  if (status.state !== 'running')
    return reportFailedStart({
      namespace,
      what: 'was not started',
      message: `somebody else has changed it, and it is ${status.state} now`,
    });
  const tools = await sourceTools(administrator, source.id);
  remark(`${namespace} is running and has ${countTools(tools.length)}.`);
  if (status.message !== undefined && findsToolsByOauth(source))
    remark(`${status.message}. \`toolcrib connect ${namespace} --discovery --as admin\` connects it.`);
  const imported = importOf(source);
  if (imported !== undefined)
    for (const line of describeImport(kindOf(source.source_type), imported, { hasCredential: hasCredential(source) })) remark(line);
  if (tools.length === 0) return;
  print(toolTable(tools.slice(0, mostTools)));
  if (tools.length > mostTools) remark(`… and ${tools.length - mostTools} more: \`toolcrib sources show ${namespace}\` lists them all.`);
  if (source.waiting > 0) remark(`${countTools(source.waiting)} wait for approval: \`toolcrib sources approve ${namespace}\` shows them.`);
  await tellWhatIsNext(administrator, { namespace, tools, asTyped });
}

interface Next extends AddReportOptions {
  namespace: string;
  tools: readonly ShownTool[];
}

async function tellWhatIsNext(administrator: Administrator, { namespace, tools, asTyped }: Next): Promise<void> {
  const groups = [...new Set(tools.flatMap((tool) => tool.groups))];
  const granting = await grantingPolicies(administrator, groups);
  if (granting.length === 0) return remark(describeGrant(namespace));
  const granted = tools.filter((tool) => granting.some((policy) => policy.groups.some((id) => tool.groups.includes(id))));
  // The server chose the names, so only a harmless one becomes part of a command that somebody may copy.
  const harmless = granted.find(({ name }) => /^[\w:.-]+$/.test(name))?.name ?? '<name>';
  remark(`Policies decide who may use them: \`toolcrib policy explain --who --tool ${harmless}\` says who.`);
  const example = exampleCall(granted);
  if (example !== undefined) remark(`Try one:\n\n  ${asTyped(example)}\n`);
}

/** Whether an administrator has to connect before its tools can be found. */
function findsToolsByOauth({ definition }: ShownSource): boolean {
  return (definition as { discovery_credential?: { type?: string } | null }).discovery_credential?.type === 'oauth';
}

function hasCredential({ definition }: ShownSource): boolean {
  const { credential, headers } = definition as { credential?: { type?: string }; headers?: object };
  return (credential?.type ?? 'none') !== 'none' || Object.keys(headers ?? {}).length > 0;
}
