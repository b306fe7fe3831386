import { readFileSync, statSync } from 'node:fs';
import { mostDocumentBytes } from '../sources/registration/document-form.ts';
import { UsageError } from './usage-error.ts';

/** A document that describes tools: where it is, or what is in it. */
export interface DocumentTarget {
  kind: 'document';
  type: 'openapi' | 'workflow';
  /** As it was written. */
  written: string;
  /** Of a file, which is sent; null for an address, which the server fetches. */
  text: string | null;
}

interface DocumentOptions {
  /** What the command line says it is. */
  type: DocumentTarget['type'] | undefined;
}

/** What an operand means where it is a document; undefined where it is something else. */
export function documentTarget(written: string, { type }: DocumentOptions): DocumentTarget | undefined {
  if (/^https?:\/\//i.test(written)) {
    const found = type ?? typeOfAddress(written);
    return found === undefined ? undefined : { kind: 'document', type: found, written, text: null };
  }
  if (type === undefined && !/\.(?:json|ya?ml)$/i.test(written)) return undefined;
  const text = readText(written);
  if (text === undefined) throw new UsageError(`There is no file ${JSON.stringify(written)} here`);
  const found = type ?? typeOfText(text);
  if (found === undefined && /"(?:mcpServers|utcp_version|call_template_type)"\s*:/.test(text))
    throw new UsageError(`${JSON.stringify(written)} was written for another client: use toolcrib import ${written}`);
  if (found === undefined)
    throw new UsageError(`${JSON.stringify(written)} looks like neither OpenAPI nor Arazzo: say which it is with --openapi or --workflow`);
  return { kind: 'document', type: found, written, text };
}

/** By what such addresses end in; an MCP server is at none of these. */
function typeOfAddress(address: string): DocumentTarget['type'] | undefined {
  const { pathname } = URL.parse(address) ?? { pathname: '' };
  const isDocument = /\.(?:json|ya?ml)$/i.test(pathname) || /\/(?:openapi|swagger|api-docs|arazzo)\/?$/i.test(pathname);
  if (!isDocument) return undefined;
  return /arazzo/i.test(pathname) ? 'workflow' : 'openapi';
}

/** Both name themselves in a field at the top. */
function typeOfText(text: string): DocumentTarget['type'] | undefined {
  const [, name] = /^\s*["']?(openapi|swagger|arazzo)["']?\s*:/m.exec(text) ?? /[{,]\s*"(openapi|swagger|arazzo)"\s*:/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return name === 'arazzo' ? 'workflow' : 'openapi';
}

function readText(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return undefined;
  if (found.size > mostDocumentBytes) throw new UsageError(`${JSON.stringify(path)} has more than ${mostDocumentBytes} bytes`);
  return readFileSync(path, 'utf8');
}
