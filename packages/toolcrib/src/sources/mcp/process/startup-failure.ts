import { CribError, type CribErrorOptions } from '../../../model/crib-error.ts';
import { TimeoutError } from '../../../model/named-errors.ts';
import type { McpDefinition } from '../../../model/mcp-definition.ts';
import { dockerFailure } from './docker-failure.ts';
import { networkHint } from './network-hint.ts';
import { packageLauncher } from './package-launcher.ts';
import { boundWords, describeExit, exitDetails, type ProcessExit, quoteWords } from './process-exit.ts';

export interface FailedStart {
  exit: ProcessExit;
  /** The last lines it wrote to standard error. */
  lastWords: readonly string[];
  /** What was started, where that may explain it. */
  definition?: Pick<McpDefinition, 'command' | 'container'>;
}

interface Sign {
  /** What is wanting; the package itself where it is not said. */
  what?: string;
  /** In the words, with line breaks and box drawings taken out: uv wraps its sentences. */
  pattern: RegExp;
  advice: string;
}

/** What `npx`, `uvx` and `docker run` say of a package that they cannot get, or cannot run. */
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
  { pattern: /docker: .*No such image/i, advice: 'The image is not here, and `pull: never` keeps it from being fetched' },
  {
    pattern: /pull access denied for|manifest (?:for \S+ not found|unknown)|repository does not exist/,
    advice: 'There is no such image. Check its name and tag',
  },
];

/** What is asked for cannot be had together, or not on this machine: trying again changes nothing. */
const unsatisfiable = /No solution found|npm (?:error|ERR!) code (?:ERESOLVE|EBADPLATFORM|EBADENGINE)\b/;

/** [ERR-4] For a server that was still running, and had not answered in the time it was given. */
export function startupTimeout({ command, container, resilience }: StartedDefinition, lastWords: readonly string[]): TimeoutError {
  const words = boundWords(lastWords);
  const launcher = packageLauncher(command);
  const raise = 'raise `startupTimeoutMs` (`--startup-timeout` of `toolcrib add`)';
  const advice =
    launcher === undefined
      ? `If it needs longer to start, ${raise}`
      : `${launcher} may still have been fetching the package: ${raise}, or start it again, since what was fetched is kept`;
  const hint = networkHint({ command, container }, lastWords);
  const message = `Handshake timed out after ${resilience.startupTimeoutMs / 1000} s. ${hint ?? advice}. ${quoteWords(words)}`;
  return new TimeoutError(message, { details: { stderr: words } });
}

type StartedDefinition = Pick<McpDefinition, 'command' | 'container' | 'resilience'>;

/** [ERR-1] [ERR-2] [ERR-5] Why a server did not come up, from how its process ended. */
export function startupFailure({ exit, lastWords, definition }: FailedStart): CribError {
  const words = boundWords(lastWords);
  const said = lastWords.join(' ').replaceAll(/[\s│╰─▶]+/g, ' ');
  const options: CribErrorOptions = { details: exitDetails(exit, words), ...(unsatisfiable.test(said) && { retryable: false }) };
  const sign = missingPackage.find(({ pattern }) => pattern.test(said));
  if (sign !== undefined)
    return new CribError('NOT_FOUND', `${sign.what ?? 'Package not found'}. ${sign.advice}. ${quoteWords(words)}`, options);
  const docker = dockerFailure({ exit, said, quoted: quoteWords(words), details: options.details });
  if (docker !== undefined) return docker;
  const hint = definition === undefined ? undefined : networkHint(definition, lastWords);
  const why = `The server's process ${describeExit(exit)} before it was ready${hint === undefined ? '' : `. ${hint}`}`;
  return new CribError('SERVICE_UNAVAILABLE', `${why}. ${quoteWords(words)}`, options);
}
