import { withoutWords } from '../sources/mcp/process/process-exit.ts';
import { align } from './align.ts';
import { describeRetry } from './describe-retry.ts';
import { complain, remark } from './terminal.ts';

export interface FailedStart {
  namespace: string;
  /** Such as `could not be started`. */
  what: string;
  message: string | undefined;
  code?: string | undefined;
  /** When the server tries it again by itself. */
  retryAt?: string | undefined;
  /** What `toolcrib sources` would try it again with. */
  retry?: 'restart' | 'enable';
}

/** Why a source does not run, and what can be done next. What the server said is on the screen already, where it was watched. */
export function reportFailedStart({ namespace, what, message, code, retryAt, retry = 'restart' }: FailedStart): void {
  const reason = message === undefined ? 'no reason is given' : withoutWords(message);
  complain(`${namespace} ${what}${code === undefined ? '' : ` (${code})`}: ${reason}`);
  const next = [
    [`toolcrib logs ${namespace}`, 'shows what it said'],
    [`toolcrib sources ${retry} ${namespace}`, retryAt === undefined ? 'tries again' : 'tries again now'],
    [`toolcrib sources remove ${namespace}`, 'takes it away'],
  ];
  const stays =
    retryAt === undefined ? 'It stays registered:' : `It stays registered, and is tried again by itself (${describeRetry(retryAt)}):`;
  remark([stays, ...align(next, { indent: 2 })].join('\n'));
}
