import { align } from '../text/align.ts';
import { describeRetry } from './describe-retry.ts';
import { complain, remark } from './terminal.ts';

export interface FailedStart {
  namespace: string;
  /** Such as `could not be started`. */
  what: string;
  /** Without the output of the server. */
  message: string | undefined;
  code?: string | undefined;
  /** When Toolcrib starts it again automatically. */
  retryAt?: string | undefined;
  /** The action of `toolcrib sources` that tries it again. */
  retry?: 'restart' | 'enable';
}

/** Why a source does not run, and what to do next. The output of its server is already on the screen if it was watched. */
export function reportFailedStart({ namespace, what, message, code, retryAt, retry = 'restart' }: FailedStart): void {
  const reason = message === undefined ? 'no reason is given' : message;
  complain(`${namespace} ${what}${code === undefined ? '' : ` (${code})`}: ${reason}`);
  const next = [
    [`toolcrib logs ${namespace}`, 'shows what it wrote'],
    [`toolcrib sources ${retry} ${namespace}`, retryAt === undefined ? 'tries again' : 'tries again now'],
    [`toolcrib sources remove ${namespace}`, 'removes it'],
  ];
  const stays =
    retryAt === undefined ? 'It stays registered:' : `It stays registered, and Toolcrib tries again (${describeRetry(retryAt)}):`;
  remark([stays, ...align(next, { indent: 2 })].join('\n'));
}
