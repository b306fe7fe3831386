import type { Answer } from '../model/call.ts';
import type { CallContext } from '../sources/source.ts';
import type { AdmittedCall } from './admission.ts';
import type { Executor } from './executor.ts';
import type { CallEvent } from './running-call.ts';

/** Runs a call that another one makes: its caller hears and answers what the inner one says, and it ends with the outer one. */
export async function runWithin(
  executor: Executor,
  admitted: AdmittedCall,
  context: CallContext,
  onProgress?: (event: CallEvent & { type: 'progress' }) => void,
): Promise<Answer> {
  const { call } = admitted;
  call.onEvent = (event) => {
    if (event.type === 'progress') onProgress?.(event);
    else if (event.type === 'log') context.log(event.level, event.data);
    else void context.elicit(event.request).then((answer) => call.answer(event.elicitation_id, answer));
  };
  const cancel = () => call.end('cancelled');
  context.signal.addEventListener('abort', cancel, { once: true });
  if (context.signal.aborted) cancel();
  try {
    return await executor.run(admitted);
  } finally {
    context.signal.removeEventListener('abort', cancel);
  }
}
