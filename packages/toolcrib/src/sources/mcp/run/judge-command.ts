import { basename, dirname, join, resolve } from 'node:path';
import type { McpDefinition } from '../mcp-definition.ts';
import type { RunRules, RunRuntime } from '../../../model/run-rules.ts';
import type { CheckedCommand, CommandPart } from '../registration/checked-command.ts';
import { checkCommand } from '../registration/command-safety.ts';
import type { AllowedMounts } from '../registration/mount-rules.ts';
import { realPlace } from '../registration/real-place.ts';
import { findProgram } from './find-program.ts';
import { matchesGlob } from './glob.ts';
import { hasDigest, isImageAllowed } from './image-allowed.ts';
import { judgeVariables } from './judge-variables.ts';
import { isPackageAllowed } from './package-allowed.ts';
import { notAllowed } from './not-allowed.ts';

export interface Judging {
  rules: RunRules;
  allowedMounts: AllowedMounts;
  /** Our own `PATH`, where programs are looked up. */
  path: string | undefined;
}

/**
 * [SEC-2] Refuses a command, or any source of its code, that the operator's rules do not allow. Returns the command to run, with the
 * program by the path that was checked, so that no other program of that name is run.
 */
export function judgeCommand({ command, cwd, plugin_dir: pluginDir }: McpDefinition, { rules, allowedMounts, path }: Judging): string[] {
  const folder = cwd ?? pluginDir;
  const parts: CommandPart[] = [];
  const { runtime } = checkCommand(command, { allowedMounts, note: (part) => void parts.push(part) });
  let from = folder;
  for (const part of parts) {
    judgePart(part, { rules, folder: from, path });
    if (part.kind === 'folder' && part.enters) from = resolve(from ?? '.', part.path);
  }
  // Files in the folder can decide what is run: `.npmrc`, `node_modules`, a module of that name.
  if (runtime !== 'docker' && runtime !== 'program' && folder !== null) judgeFolder(folder, rules);
  const [written = '', ...args] = command;
  return [judgeProgram(written, runtime, { rules, folder, path }), ...args];
}

interface Place {
  rules: RunRules;
  folder: string | null;
  path: string | undefined;
}

function judgePart(part: CommandPart, { rules, folder, path }: Place): void {
  switch (part.kind) {
    case 'runtime':
      return judgeRuntime(part.runtime, rules);
    case 'package':
      if (isPackageAllowed(rules.packages, part)) return;
      throw notAllowed(
        `the package ${part.registry}:${part.name}${part.version === null ? ' without a version' : ` ${part.version}`}`,
        rules.packages,
      );
    case 'image':
      return judgeImage(part.image, rules);
    case 'file':
      return judgeFile(resolve(folder ?? '.', part.path), rules);
    case 'folder':
      return judgeFolder(resolve(folder ?? '.', part.path), rules);
    case 'module':
      if (rules.modules.some((glob) => matchesGlob(glob, part.name))) return;
      throw notAllowed(`the module ${part.name}`, rules.modules);
    case 'variable':
      return judgeVariables([part.name], rules);
    case 'command': {
      // A program that is not on the path can only be the package's own.
      const found = findProgram(part.name, { path, cwd: folder });
      if (found !== undefined) judgeFile(found, rules);
    }
  }
}

export function judgeRuntime(runtime: CheckedCommand['runtime'], { runtimes }: RunRules): void {
  const named: RunRuntime = runtime === 'uv' ? 'uvx' : runtime;
  if (!runtimes.includes(named)) throw notAllowed(named === 'program' ? 'programs of this machine' : named, runtimes);
}

export function judgeImage(image: string, { images, require_digest: digest }: RunRules): void {
  if (digest && !hasDigest(image)) throw notAllowed(`the image ${image}, which is not named by its digest (name@sha256:…)`, images);
  if (!isImageAllowed(images, image)) throw notAllowed(`the image ${image}`, images);
}

function judgeFile(path: string, { programs }: RunRules): void {
  const real = realPlace(path);
  if (!programs.some((glob) => matchesGlob(glob, real))) throw notAllowed(real === path ? path : `${path}, which is ${real}`, programs);
}

/** A folder is allowed if the files in it are. */
function judgeFolder(path: string, { programs }: RunRules): void {
  const real = realPlace(path);
  const allowed = programs.some((glob) => matchesGlob(glob, real) || matchesGlob(glob, join(real, 'file')));
  if (!allowed) throw notAllowed(`starting in the folder ${real}`, programs);
}

/**
 * A runtime is the one on our own path, unless the operator names another. Links are not resolved: the Python of a virtual environment is a
 * link to the usual one, and yet it loads other code.
 */
function judgeProgram(written: string, runtime: CheckedCommand['runtime'], { rules, folder, path }: Place): string {
  const found = findProgram(written, { path, cwd: folder });
  if (found === undefined) throw notAllowed(`the program ${written}, which is not on this machine`, rules.programs);
  if (runtime === 'program') {
    judgeFile(found, rules);
    return realPlace(found);
  }
  if (found === findProgram(basename(found), { path, cwd: null })) return found;
  const place = join(realPlace(dirname(found)), basename(found));
  if (!rules.programs.some((glob) => matchesGlob(glob, place))) throw notAllowed(`${runtime} at ${found}`, rules.programs);
  return found;
}
