import { ProtocolError } from '../model/named-errors.ts';
import type { HttpResponse } from './http-client.ts';

/** The whole answer as text, or an error at the first byte too many. */
export async function readBody(response: HttpResponse, maxBytes: number): Promise<string> {
  const declared = response.header('content-length');
  if (Number(declared) > maxBytes) {
    response.body.destroy();
    throw tooLarge(maxBytes);
  }
  // A declared length is enforced by the client, so nothing needs to be counted.
  if (declared !== '') return response.body.text();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString();
}

export function tooLarge(maxBytes: number): ProtocolError {
  return new ProtocolError(`The answer is larger than the ${maxBytes} bytes allowed for one message`);
}
