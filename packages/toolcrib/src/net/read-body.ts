import { tooLarge } from './http-body.ts';
import type { HttpResponse } from './http-exchange.ts';

/** The whole answer as text, or an error at the first byte too many. */
export function readBody(response: HttpResponse, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => takeBody(response, maxBytes, { whole: resolve, failed: reject }));
}

/** The same without a promise. One of the two is called, once, perhaps at once. */
export function takeBody(
  response: HttpResponse,
  maxBytes: number,
  { whole, failed }: { whole(text: string): void; failed(error: unknown): void },
): void {
  if (Number(response.header('content-length')) > maxBytes) {
    response.body.destroy();
    failed(tooLarge(maxBytes));
  } else response.body.whenWhole(maxBytes, { whole: (bytes) => whole(bytes.toString()), failed });
}
