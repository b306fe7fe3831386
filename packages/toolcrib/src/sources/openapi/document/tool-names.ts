import { shortHash } from '../../documents/short-hash.ts';

const longest = 128;

interface Named {
  method: string;
  path: string;
  operationId: string | null;
}

/**
 * [OAS-1] The tool name of each operation, in order: its id, or its method and path. Operations that would share a name, ignoring case, all
 * get a hash of method and path, so that their order in the document does not matter.
 */
export function toolNames(operations: readonly Named[]): string[] {
  const plain = operations.map(({ method, path, operationId }) => {
    const byId = operationId === null ? '' : legalName(operationId);
    return byId === '' ? legalName(`${method.toLowerCase()} ${path}`) || method.toLowerCase() : byId;
  });
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return plain.map((name, index) => {
    const { method = '', path = '' } = operations[index] ?? {};
    const isLong = name.length > longest;
    if (!isLong && counts.get(name.toLowerCase()) === 1) return name;
    const suffix = shortHash(`${method} ${path}`);
    return `${name.slice(0, longest - suffix.length - 1)}_${suffix}`;
  });
}

function legalName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').replaceAll(/^_+|_+$/g, '');
}
