import type { JsonObject } from '../../../model/json.ts';
import { cut, isObject, objectAt, own, textAt, type Node } from './node.ts';
import type { OpenDocument } from './open-document.ts';
import { Unusable } from './unusable.ts';

/** One operation where the document has it. */
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

/** What only operations have: the rest of their fields is found in schemas and path items, too. */
const fieldsOfOperations = ['operationId', 'requestBody', 'responses', 'tags', 'security', 'callbacks', 'consumes', 'produces'];

/** [OAS-1] All operations below `paths`; webhooks and callbacks are requests that others make. */
export function findOperations(document: OpenDocument): { operations: FoundOperation[]; skipped: Skipped[] } {
  const operations: FoundOperation[] = [];
  const skipped: Skipped[] = [];

  /** What cannot be read is reported, and nothing else is the worse for it. */
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
          skipped.push({ operation: labelOf({ method, path }), reason: 'It has a method that cannot be sent' });
        } else take(method.toUpperCase(), path, operation, pathItem);
      }
    });
  }
  return { operations, skipped };
}

/** Documents in several files often keep all paths in one of them, which no version of OpenAPI provides for. */
function pathsOf(document: OpenDocument): JsonObject {
  const paths = objectAt(own(document.root, 'paths'));
  return typeof own(paths, '$ref') === 'string' ? withSiblings(document, paths) : paths;
}

/** [OAS-1] An operation, wherever it stands: OpenAPI has no references to operations, and documents in several files use them. */
function operationAt(document: OpenDocument, given: Node): JsonObject {
  const operation = withSiblings(document, given);
  const reference = isObject(given) ? own(given, '$ref') : undefined;
  if (reference === undefined || fieldsOfOperations.some((field) => Object.hasOwn(operation, field))) return operation;
  throw new Unusable(`It refers to ${cut(JSON.stringify(reference), 500)}, which is not an operation`);
}

function idOf(operation: JsonObject): string | null {
  const id = textAt(own(operation, 'operationId'));
  return id === undefined ? null : cut(id, 512);
}

/** What is beside a `$ref` counts too: OpenAPI leaves it open, and documents use it. */
function withSiblings(document: OpenDocument, given: Node): JsonObject {
  const target = document.follow(given, 'It');
  if (target === given || !isObject(given)) return target;
  const { $ref: _reference, ...beside } = given;
  return { ...target, ...beside };
}

/** What an operation is called in a report. */
export function labelOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`.slice(0, 500).toWellFormed();
}
