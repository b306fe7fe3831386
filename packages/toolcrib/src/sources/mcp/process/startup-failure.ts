import { CribError, type CribErrorOptions, type ErrorCode } from '../../../model/crib-error.ts';
import { TimeoutError } from '../../../model/named-errors.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import { dockerFailure } from './docker-failure.ts';
import { networkHint } from './network-hint.ts';
import { packageLauncher } from './package-launcher.ts';
import { boundWords, describeExit, exitDetails, type ProcessExit, quoting } from './process-exit.ts';

export interface FailedStart {
  exit: ProcessExit;
  /** The last lines it wrote to standard error. */
  lastWords: readonly string[];
  /** What was started, where that may explain it. */
  definition?: Pick<McpDefinition, 'command' | 'container'>;
}

interface Sign {
  /** What is missing; the package itself by default. */
  what?: string;
  /** Matched against the output without line breaks and box drawings: uv wraps its sentences. */
  pattern: RegExp;
  advice: string;
}

/** How `npx`, `uvx` and `docker run` say that they cannot get or run a package. */
const missingPackage: Sign[] = [
  { pattern: /npm (?:error|ERR!) code E404\b/, advice: 'The npm registry does not have it. Check the name' },
  {
    pattern: /npm (?:error|ERR!) code (?:ETARGET|ENOVERSIONS)\b/,
    advice: 'The npm registry does not have this version. Check the version',
  },
  { pattern: /npm (?:error|ERR!) code ENOTCACHED\b/, advice: 'It is not in the npm cache. Install it first, or allow npx to fetch it' },
  {
    pattern: /npm (?:error|ERR!) code (?:EINVALIDPACKAGENAME|EINVALIDTAGNAME)\b/,
    advice: 'No npm package can have this name. Check the name',
  },
  {
    pattern: /npm (?:error|ERR!) could not determine executable to run/,
    what: 'The npm package has no program to run',
    advice: 'Check the name, or name the program: `npx -p PACKAGE PROGRAM`',
  },
  {
    pattern: /was not found in the (?:package registry|provided package locations)/,
    advice: 'The Python package index does not have it. Check the name',
  },
  { pattern: /was not found in the cache/, advice: 'It is not in the cache of uv. Install it first, or allow uvx to fetch it' },
  { pattern: /there (?:is|are) no versions? of \S+/, advice: 'The Python package index does not have this version. Check the version' },
  {
    pattern: /does not provide any executables|An executable named \S+ is not provided by package/,
    what: 'The Python package has no such program',
    advice: 'Check the name, or name the program: `uvx --from PACKAGE PROGRAM`',
  },
  { pattern: /docker: .*No such image/i, advice: 'The image is not here, and `pull: never` forbids fetching it' },
  {
    pattern: /pull access denied for|manifest (?:for \S+ not found|unknown)|repository does not exist/,
    advice: 'There is no such image. Check its name and tag',
  },
];

/** The requirements conflict, or this machine does not meet them: a retry changes nothing. */
const unsatisfiable = /No solution found|npm (?:error|ERR!) code (?:ERESOLVE|EBADPLATFORM|EBADENGINE)\b/;

/** [ERR-4] For a server that runs but did not answer within the start-up timeout. */
export function startupTimeout({ command, container, resilience }: StartedDefinition, lastWords: readonly string[]): TimeoutError {
  const words = boundWords(lastWords);
  const launcher = packageLauncher(command);
  const raise = 'raise `startupTimeoutMs` (`--startup-timeout` of `toolcrib add`)';
  const advice =
    launcher === undefined
      ? `If it needs longer to start, ${raise}`
      : `${launcher} may still have been fetching the package: ${raise}, or start it again, since the downloaded files are kept`;
  const hint = networkHint({ command, container }, lastWords);
  const summary = `Handshake timed out after ${resilience.startupTimeoutMs / 1000} s. ${hint ?? advice}.`;
  const { message, ...quoted } = quoting(summary, words);
  return new TimeoutError(message, { ...quoted, details: { stderr: words } });
}

type StartedDefinition = Pick<McpDefinition, 'command' | 'container' | 'resilience'>;

/** [ERR-1] [ERR-2] [ERR-5] Why a server did not start, from how its process ended. */
export function startupFailure({ exit, lastWords, definition }: FailedStart): CribError {
  const words = boundWords(lastWords);
  const said = lastWords.join(' ').replaceAll(/[\s│╰─▶]+/g, ' ');
  const options: CribErrorOptions = { details: exitDetails(exit, words), ...(unsatisfiable.test(said) && { retryable: false }) };
  const sign = missingPackage.find(({ pattern }) => pattern.test(said));
  const failed = (code: ErrorCode, summary: string) => {
    const { message, ...quoted } = quoting(summary, words);
    return new CribError(code, message, { ...options, ...quoted });
  };
  if (sign !== undefined) return failed('NOT_FOUND', `${sign.what ?? 'Package not found'}. ${sign.advice}.`);
  const docker = dockerFailure({ exit, said, words, details: options.details });
  if (docker !== undefined) return docker;
  const hint = definition === undefined ? undefined : networkHint(definition, lastWords);
  return failed(
    'SERVICE_UNAVAILABLE',
    `The server's process ${describeExit(exit)} before it was ready${hint === undefined ? '' : `. ${hint}`}.`,
  );
}
