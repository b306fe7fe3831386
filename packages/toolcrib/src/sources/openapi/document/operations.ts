import type { JsonObject } from '../../../model/json.ts';
import { cut, isObject, objectAt, own, textAt } from './node.ts';
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

/** [OAS-1] All operations below `paths`; webhooks and callbacks are requests that others make. */
export function findOperations(document: OpenDocument): { operations: FoundOperation[]; skipped: Skipped[] } {
  const operations: FoundOperation[] = [];
  const skipped: Skipped[] = [];

  function take(method: string, path: string, operation: JsonObject | undefined, pathItem: JsonObject): void {
    if (operation === undefined) return void skipped.push({ operation: labelOf({ method, path }), reason: 'It is no object' });
    operations.push({ method, path, operationId: idOf(operation), operation, pathItem });
  }

  for (const [path, given] of Object.entries(objectAt(own(document.root, 'paths')))) {
    if (path.startsWith('x-')) continue;
    let pathItem: JsonObject;
    try {
      pathItem = pathItemOf(document, given);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      skipped.push({ operation: labelOf({ method: '*', path }), reason: error.message });
      continue;
    }
    for (const method of methods) {
      const operation = own(pathItem, method);
      if (operation !== undefined) take(method.toUpperCase(), path, isObject(operation) ? operation : undefined, pathItem);
    }
    for (const [method, operation] of Object.entries(objectAt(own(pathItem, 'additionalOperations')))) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,50}$/.test(method) || method.toUpperCase() === 'CONNECT') {
        skipped.push({ operation: labelOf({ method, path }), reason: 'It has a method that cannot be sent' });
      } else take(method.toUpperCase(), path, isObject(operation) ? operation : undefined, pathItem);
    }
  }
  return { operations, skipped };
}

function idOf(operation: JsonObject): string | null {
  const id = textAt(own(operation, 'operationId'));
  return id === undefined ? null : cut(id, 512);
}

/** What is beside a `$ref` counts too: OpenAPI leaves it open, and documents use it. */
function pathItemOf(document: OpenDocument, given: JsonObject[string]): JsonObject {
  const target = document.follow(given, 'It');
  if (target === given || !isObject(given)) return target;
  const { $ref: _reference, ...beside } = given;
  return { ...target, ...beside };
}

/** What an operation is called in a report. */
export function labelOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`.slice(0, 500).toWellFormed();
}
