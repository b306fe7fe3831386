import { decodeBody } from '../../../net/decode-body.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { tooLarge } from '../../../net/http-body.ts';

/** What a failure or a redirect says is short; what is longer is a page for people. */
const mostOfFailure = 65_536;
/** [EXEC-7] Whatever a tool's limits are: what is larger is nothing to be held in memory. */
const mostOfAnswer = 33_554_432;

/** The whole body, as it was before it was compressed. */
export async function readAnswer(response: HttpResponse): Promise<Buffer> {
  const isFailure = response.status >= 300;
  const most = isFailure ? mostOfFailure : mostOfAnswer;
  if (Number(response.header('content-length')) > most) {
    response.body.destroy();
    if (isFailure) return Buffer.alloc(0);
    throw tooLarge(most);
  }
  try {
    const bytes = await response.body.bytes(most);
    const encoding = response.header('content-encoding');
    return encoding === '' ? bytes : await decodeBody(bytes, encoding, most);
  } catch (error) {
    // That it failed is known without it.
    if (isFailure) return Buffer.alloc(0);
    throw error;
  }
}
