import { CribError, type CribErrorOptions } from '../../../model/crib-error.ts';
import { dockerFailure } from './docker-failure.ts';
import { boundWords, describeExit, exitDetails, type ProcessExit, quoteWords } from './process-exit.ts';

export interface FailedStart {
  /** Null where the process was still running and had only said nothing. */
  exit: ProcessExit | null;
  /** The last lines it wrote to standard error. */
  lastWords: readonly string[];
}

interface Sign {
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
    advice: 'The npm package has no program to run. Check the name, or name the program with `npx -p PACKAGE PROGRAM`',
  },
  {
    pattern: /was not found in the (?:package registry|provided package locations)/,
    advice: 'The Python package index does not have it. Check the name',
  },
  { pattern: /was not found in the cache/, advice: 'It is not in the cache of uv. Install it first, or allow uvx to fetch it' },
  { pattern: /there (?:is|are) no versions? of \S+/, advice: 'The Python package index does not have this version. Check the version' },
  {
    pattern: /does not provide any executables|An executable named \S+ is not provided by package/,
    advice: 'The Python package has no such program. Check the name, or use `uvx --from PACKAGE PROGRAM`',
  },
  {
    pattern: /pull access denied for|manifest (?:for \S+ not found|unknown)|repository does not exist/,
    advice: 'There is no such image. Check its name and tag',
  },
];

/** [ERR-1] [ERR-2] [ERR-4] [ERR-5] Why a server did not come up, from what is known when it did not. */
export function startupFailure({ exit, lastWords }: FailedStart): CribError {
  const words = boundWords(lastWords);
  if (exit === null) {
    return new CribError('NETWORK_ERROR', `Handshake timed out. ${quoteWords(words)}`, { retryable: true, details: { stderr: words } });
  }
  const options: CribErrorOptions = { details: exitDetails(exit, words) };
  const said = lastWords.join(' ').replaceAll(/[\s│╰─▶]+/g, ' ');
  const sign = missingPackage.find(({ pattern }) => pattern.test(said));
  if (sign !== undefined) return new CribError('NOT_FOUND', `Package not found. ${sign.advice}. ${quoteWords(words)}`, options);
  const docker = dockerFailure({ exit, said, quoted: quoteWords(words), details: options.details });
  if (docker !== undefined) return docker;
  return new CribError(
    'SERVICE_UNAVAILABLE',
    `The server's process ${describeExit(exit)} before it was ready. ${quoteWords(words)}`,
    options,
  );
}
