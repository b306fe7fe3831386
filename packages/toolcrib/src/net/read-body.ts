import { tooLarge } from './http-body.ts';
import type { HttpResponse } from './http-exchange.ts';

/** The whole answer as text, or an error at the first byte too many. */
export function readBody(response: HttpResponse, maxBytes: number): Promise<string> {
  if (Number(response.header('content-length')) > maxBytes) {
    response.body.destroy();
    return Promise.reject(tooLarge(maxBytes));
  }
  return response.body.text(maxBytes);
}
