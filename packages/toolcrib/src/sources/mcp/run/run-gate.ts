import { CribError } from '../../../model/crib-error.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import { limitNames, type ProcessLimits } from '../../../model/process-limits.ts';
import { limitsOf, type RunRules } from '../../../model/run-rules.ts';
import { accountEnvironment } from '../process/account-environment.ts';
import type { ProcessBounds } from '../process/process-bounds.ts';
import type { ResourceWatch } from '../process/resource-watch.ts';
import type { RunAccount } from '../process/run-account.ts';
import type { AllowedMounts } from '../registration/mount-rules.ts';
import { isContainerRunner, programName } from '../registration/program-name.ts';
import type { Environment } from '../../upstream/environment.ts';
import { isRiskyVariable } from '../../upstream/variable-names.ts';
import { findProgram } from './find-program.ts';
import { matchesGlob } from './glob.ts';
import { judgeCommand, judgeImage, judgeRuntime } from './judge-command.ts';
import { judgeVariables } from './judge-variables.ts';
import { notAllowed } from './not-allowed.ts';

/** [SEC-2] Checks everything that is started on this machine, in a container or not. */
export interface RunGate {
  /** Refuses a definition that must not run here. */
  check(definition: McpDefinition): void;
  /**
   * The same right before a start: the rules may have become stricter since the registration, and only now are all variables known. Returns
   * what is started, and its limits.
   */
  admit(definition: McpDefinition, environment: Environment): AdmittedLaunch;
}

export interface AdmittedLaunch {
  command: readonly string[];
  cwd: string | null;
  env: Record<string, string>;
  /** Absent for containers, which have limits of their own. */
  bounds?: ProcessBounds;
}

interface RunGateInput {
  /** `nothing`: nothing may run. Undefined: everything may run except shells, inline code and packages from URLs. */
  rules: RunRules | 'nothing' | undefined;
  allowedMounts: AllowedMounts;
  /** The account that servers run as; null for our own. */
  account: RunAccount | null;
  /** Whether servers outside containers may run as our own account, which can read our keys. */
  sameUser: boolean;
  watch: ResourceWatch;
  path: string | undefined;
}

export function createRunGate({ rules, allowedMounts, account, sameUser, watch, path }: RunGateInput): RunGate {
  const { usual, most } = rules === undefined || rules === 'nothing' ? { usual: {}, most: {} } : limitsOf(rules);
  const prlimit = findProgram('prlimit', { path, cwd: null });

  /** Returns the command to run. */
  function judge(definition: McpDefinition, variables: Iterable<string>): readonly string[] {
    if (rules === undefined) return definition.command;
    if (rules === 'nothing') throw nothingRuns();
    judgeVariables(variables, rules);
    const { container, command } = definition;
    if (account === null && !sameUser && !isContained(definition)) throw wouldReadOurKeys();
    if (container === null) return judgeCommand(definition, { rules, allowedMounts, path });
    judgeRuntime('docker', rules);
    const { name, image } = container;
    if (image !== null) judgeImage(image, rules);
    if (name !== null && !rules.containers.some((glob) => matchesGlob(glob, name)))
      throw notAllowed(`starting servers in the container ${name}`, rules.containers);
    return command;
  }

  function boundsOf({ process_limits: asked }: McpDefinition): ProcessBounds {
    const limits = Object.fromEntries(
      limitNames.flatMap((name) => {
        const limit = Math.min(asked[name] ?? usual[name] ?? Infinity, most[name] ?? Infinity);
        return limit === Infinity ? [] : [[name, limit]];
      }),
    ) as ProcessLimits;
    const isLimited = Object.keys(limits).length > 0;
    if (isLimited && prlimit === undefined) throw noPrlimit();
    return { limits, prlimit: isLimited || account !== null ? prlimit : undefined, watch, account };
  }

  return {
    check(definition) {
      judge(definition, foreseeable(definition));
      const asked = definition.process_limits;
      const tooMuch = limitNames.find((name) => (asked[name] ?? 0) > (most[name] ?? Infinity));
      if (tooMuch === undefined) return;
      throw new CribError('FORBIDDEN', `The operator's run rules allow no more than ${most[tooMuch]} as ${tooMuch}`, {
        field: `mcp_process_limits.${tooMuch}`,
      });
    },
    admit(definition, { base, given }) {
      const command = admitted(() => judge(definition, Object.keys(given)));
      const env = { ...base, ...given };
      const cwd = definition.cwd ?? definition.plugin_dir;
      if (isContained(definition)) return { command, cwd, env };
      const bounds = boundsOf(definition);
      if (account === null) return { command, cwd, env, bounds };
      return { command, cwd: cwd ?? account.home, env: accountEnvironment({ base, given }, account), bounds };
    },
  };
}

function isContained({ container, command }: McpDefinition): boolean {
  return container !== null || isContainerRunner(programName(command[0] ?? ''));
}

/**
 * The variables that are known at registration. A variable that a manifest only declares may never get a value: it is judged when it has
 * one, unless it is always dangerous.
 */
function foreseeable({ environment, env_definitions: declared, credential_env: token }: McpDefinition): string[] {
  const certain = declared.filter(({ name, required }) => required || isRiskyVariable(name)).map(({ name }) => name);
  return [...Object.keys(environment), ...certain, ...(token === null ? [] : [token])];
}

/** If the rules have become stricter, that is not the caller's fault, and a retry does not help. */
function admitted<Result>(judge: () => Result): Result {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof CribError)) throw error;
    throw new CribError('SERVICE_UNAVAILABLE', `The server must not be started: ${error.message}`, { retryable: false, cause: error });
  }
}

function nothingRuns(): CribError {
  const how = 'The operator can allow it with `toolcrib serve --run-rules FILE`';
  return new CribError('FORBIDDEN', `Nothing may be started on this machine. ${how}`, { field: 'command' });
}

function wouldReadOurKeys(): CribError {
  const why = "As the gateway's own user a local server could read its keys, its database and its environment";
  const how = 'In the file of run rules name another `user`, or run the server in a container, or accept it with `same_user: true`';
  return new CribError('FORBIDDEN', `${why}. ${how}`, { field: 'command' });
}

function noPrlimit(): CribError {
  return new CribError(
    'SERVICE_UNAVAILABLE',
    'It has limits that cannot be set here: the program prlimit is missing. Install util-linux, or take the limits away',
    { retryable: false },
  );
}
