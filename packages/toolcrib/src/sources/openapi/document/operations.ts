import { isObject, type JsonObject } from '../../../model/json.ts';
import { cut, objectAt, own, textAt, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { Unusable } from '../../documents/unusable.ts';

/** One operation, with its place in the document. */
export interface FoundOperation {
  method: string;
  path: string;
  operationId: string | null;
  operation: JsonObject;
  pathItem: JsonObject;
}

export interface Skipped {
  operation: string;
  reason: string;
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/** Fields that only operations have; their other fields also occur in schemas and path items. */
const fieldsOfOperations = ['operationId', 'requestBody', 'responses', 'tags', 'security', 'callbacks', 'consumes', 'produces'];

/** [OAS-1] All operations below `paths`. Webhooks and callbacks are left out: the service sends those requests. */
export function findOperations(document: OpenDocument): { operations: FoundOperation[]; skipped: Skipped[] } {
  const operations: FoundOperation[] = [];
  const skipped: Skipped[] = [];

  /** Skips and reports an unreadable part, without affecting the rest. */
  function orSkip(method: string, path: string, read: () => unknown): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      skipped.push({ operation: labelOf({ method, path }), reason: error.message });
    }
  }

  function take(method: string, path: string, given: Node, pathItem: JsonObject): void {
    orSkip(method, path, () => {
      const operation = operationAt(document, given);
      operations.push({ method, path, operationId: idOf(operation), operation, pathItem });
    });
  }

  let paths: JsonObject = {};
  orSkip('*', '*', () => (paths = pathsOf(document)));
  for (const [path, given] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    orSkip('*', path, () => {
      const pathItem = withSiblings(document, given);
      for (const method of methods) {
        const operation = own(pathItem, method);
        if (operation !== undefined) take(method.toUpperCase(), path, operation, pathItem);
      }
      for (const [method, operation] of Object.entries(objectAt(own(pathItem, 'additionalOperations')))) {
        if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,50}$/.test(method) || method.toUpperCase() === 'CONNECT') {
          skipped.push({ operation: labelOf({ method, path }), reason: 'The method cannot be sent' });
        } else take(method.toUpperCase(), path, operation, pathItem);
      }
    });
  }
  return { operations, skipped };
}

/** Documents in several files often put all paths behind one `$ref`, which no version of OpenAPI provides for. */
function pathsOf(document: OpenDocument): JsonObject {
  const paths = objectAt(own(document.root, 'paths'));
  return typeof own(paths, '$ref') === 'string' ? withSiblings(document, paths) : paths;
}

/** [OAS-1] Resolves an operation: OpenAPI has no references to operations, but documents in several files use them. */
function operationAt(document: OpenDocument, given: Node): JsonObject {
  const operation = withSiblings(document, given);
  const reference = isObject(given) ? own(given, '$ref') : undefined;
  if (reference === undefined || fieldsOfOperations.some((field) => Object.hasOwn(operation, field))) return operation;
  throw new Unusable(`The entry refers to ${cut(JSON.stringify(reference), 500)}, which is not an operation`);
}

function idOf(operation: JsonObject): string | null {
  const id = textAt(own(operation, 'operationId'));
  return id === undefined ? null : cut(id, 512);
}

/** Fields beside a `$ref` count too: OpenAPI leaves that open, and documents use it. */
function withSiblings(document: OpenDocument, given: Node): JsonObject {
  const target = document.follow(given, 'The entry');
  if (target === given || !isObject(given)) return target;
  const { $ref: _reference, ...beside } = given;
  return { ...target, ...beside };
}

/** The label of an operation in a report. */
export function labelOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`.slice(0, 500).toWellFormed();
}
