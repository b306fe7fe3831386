import type { Gateway } from '../../isolation/connect-to-gateway.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ImportMessage } from './import-in-process.ts';

/** The other end of `importInProcess`: sends what `run` returns, or why it failed, and lets the process end. */
export async function sendResult<Result>(gateway: Gateway, run: () => Result | Promise<Result>): Promise<void> {
  const send = (message: ImportMessage<Result>) => gateway.send(JSON.stringify(message));
  try {
    send({ kind: 'done', result: await run() });
  } catch (error) {
    if (error instanceof CribError) send({ kind: 'failed', code: error.code, message: error.message });
    else if (error instanceof RangeError)
      send({ kind: 'failed', code: 'VALIDATION_ERROR', message: 'The document is too large or too deeply nested' });
    else throw error;
  }
  gateway.close();
}
