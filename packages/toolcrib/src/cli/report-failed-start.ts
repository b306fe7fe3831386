import { align } from './align.ts';
import { complain, remark } from './terminal.ts';

export interface FailedStart {
  namespace: string;
  /** Such as `could not be started`. */
  what: string;
  message: string | undefined;
  code?: string | undefined;
  /** What `toolcrib sources` would try it again with. */
  retry?: 'restart' | 'enable';
}

/** Why a source does not run, and what can be done next. */
export function reportFailedStart({ namespace, what, message, code, retry = 'restart' }: FailedStart): void {
  // The code first: the message may end with what the server said last.
  complain(`${namespace} ${what}${code === undefined ? '' : ` (${code})`}: ${message ?? 'no reason is given'}`);
  const next = [
    [`toolcrib logs ${namespace}`, 'shows what it said'],
    [`toolcrib sources ${retry} ${namespace}`, 'tries again'],
    [`toolcrib sources remove ${namespace}`, 'takes it away'],
  ];
  remark(['It stays registered:', ...align(next, { indent: 2 })].join('\n'));
}
