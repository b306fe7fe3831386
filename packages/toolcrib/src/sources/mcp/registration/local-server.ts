import { isAbsolute } from 'node:path';
import type { Json } from '../../../model/json.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import { takeArgumentSecrets } from './argument-secrets.ts';
import type { CheckedCommand } from './checked-command.ts';
import { checkCommand } from './command-safety.ts';
import { completeDockerRun } from './docker-command.ts';
import type { Draft } from '../../registration/draft.ts';
import { invalid } from '../../registration/invalid.ts';
import type { AllowedMounts } from './mount-rules.ts';
import { resolvePluginPath } from './plugin-path.ts';
import type { Runtime } from './runtime.ts';

/** How a local server is started, before anything has been checked. */
export interface LocalServer {
  pluginDir: string | null;
  manifestPath: string | null;
  cwd: string | null;
  transport: 'stdio' | 'sse';
  runtime: Runtime | null;
  command: string[];
  config: Json;
  /** The request field that holds the command. */
  field: string;
  allowRisky: boolean;
  allowedMounts: AllowedMounts;
}

export type LocalParts = Pick<
  McpDefinition,
  'transport_type' | 'runtime_hint' | 'command' | 'cwd' | 'plugin_dir' | 'manifest_path' | 'config'
>;

/** The part of a definition that says how a local server is started, after its command has been checked. */
export async function localParts(draft: Draft, server: LocalServer): Promise<{ parts: LocalParts; starts: CheckedCommand }> {
  const { field, allowRisky, allowedMounts, pluginDir } = server;
  if (server.cwd !== null && !isAbsolute(server.cwd)) throw invalid('mcp_cwd', 'The directory to start in must be an absolute path');
  const starts = checkCommand(server.command, { allowRisky, field, allowedMounts });
  const written = starts.runtime === 'docker' ? completeDockerRun(server.command, { field, allowedMounts }) : server.command;
  const command = await withPaths(written, starts, server);
  const parts: LocalParts = {
    transport_type: server.transport,
    runtime_hint: server.runtime ?? (starts.runtime === 'program' || starts.runtime === 'uv' ? null : starts.runtime),
    command: takeArgumentSecrets(command, draft.putAside),
    cwd: server.cwd ?? pluginDir,
    plugin_dir: pluginDir,
    manifest_path: server.manifestPath,
    config: server.config,
  };
  return { parts, starts };
}

/** The command, with the absolute paths of a plugin's program and script. */
async function withPaths(command: readonly string[], starts: CheckedCommand, { pluginDir, cwd, field }: LocalServer): Promise<string[]> {
  const [program = ''] = command;
  const paths = [...command];
  const hasPath = /[\\/]/.test(program);
  if (pluginDir === null) {
    if (hasPath && !isAbsolute(program) && cwd === null) throw invalid(field, 'Name the program by its absolute path, or give mcp_cwd');
    return paths;
  }
  if (hasPath) paths[0] = await resolvePluginPath(pluginDir, program, field);
  if (starts.runtime === 'python' || starts.runtime === 'node') {
    const script = command.indexOf(starts.runs[0] ?? '', 1);
    if (script > 0 && command[script - 1] !== '-m') paths[script] = await resolvePluginPath(pluginDir, command[script] ?? '', field);
  }
  return paths;
}

/** The runtime of a script, from its file extension; null if the command starts with something else. */
export function runtimeOfScript(command: readonly string[]): Runtime | null {
  const [first = ''] = command;
  if (/\.pyw?$/i.test(first)) return 'python';
  return /\.[cm]?[jt]s$/i.test(first) ? 'node' : null;
}
