import { CribError } from '../model/crib-error.ts';
import { complain, printJson } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

interface ErrorReport {
  json: boolean;
  /** The command that shows the usage. */
  help: string;
}

/** Whether the command line asks for JSON. Found without parsing, because the line itself may be wrong. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).includes('--json');
}

/** [CLI-1] [EXEC-6] Says what went wrong: in words on standard error, or as `{"error": {code, message, …}}` on standard output. */
export function reportError(error: unknown, { json, help }: ErrorReport): void {
  // Anything else is a bug, and a report needs to say where it happened.
  if (!(error instanceof CribError)) {
    const message = `Something failed inside Toolcrib: ${error instanceof Error ? error.stack : String(error)}`;
    if (json) printJson({ error: { code: 'INTERNAL', message } });
    else complain(message);
  } else if (json) {
    printJson({ error: { ...error.toJSON(), ...(error instanceof UsageError ? { help } : {}) } });
  } else if (error instanceof UsageError) {
    complain(`${error.message.replace(/[.]$/, '')}. See \`${help}\`.`.replace('?.', '?'));
  } else complain(error.message);
}
