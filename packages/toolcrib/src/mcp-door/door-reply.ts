import type { ServerResponse } from 'node:http';
import { SseWriter } from './sse-writer.ts';

const json = 'application/json; charset=utf-8';

/** The HTTP answer to one request at the door, whichever way the request came in: whole, or as a stream. */
export class DoorReply {
  readonly #response: ServerResponse;
  /** Of every answer, names and values in turn. */
  readonly #head: readonly string[];

  constructor(response: ServerResponse, head: readonly string[]) {
    this.#response = response;
    this.#head = head;
  }

  /** Nothing is sent where nobody is there any more. */
  send(status: number, body?: string, more: readonly string[] = []): void {
    if (this.#response.destroyed) return;
    const head = [...this.#head, ...more];
    if (body === undefined) head.push('content-length', '0');
    else head.push('content-type', json, 'content-length', String(Buffer.byteLength(body)));
    this.#response.writeHead(status, head);
    this.#response.end(body);
  }

  stream(more: readonly string[] = []): SseWriter {
    return new SseWriter(this.#response, [...this.#head, ...more]);
  }

  onClose(listener: () => void): void {
    this.#response.on('close', listener);
  }
}

/** What others have set, as a list. */
export function headOf(headers: Record<string, string | number | string[] | undefined>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : Array.isArray(value) ? value.flatMap((one) => [name, one]) : [name, String(value)],
  );
}
