import { UsageError } from '../../../model/usage-error.ts';
import type { AddRequest } from '../command-line.ts';

/** The place or content of a document: a local file is sent, an address is fetched by the server. */
export function documentPlace({ operand, rest }: AddRequest): { url: string } | { text: string } {
  if (operand === undefined) throw new UsageError('Name the document: its address, or a file on this machine');
  if (rest[0] !== undefined) throw new UsageError(`${JSON.stringify(rest[0])} is one argument too many after a document`);
  return operand.address === undefined ? { text: operand.text() } : { url: operand.written };
}
