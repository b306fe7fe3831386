import { hash } from 'node:crypto';

const usualLength = 64;
const hashLength = 10;
const looksHashed = new RegExp(`_[0-9a-f]{${hashLength}}$`);

/**
 * [NAME-3] The name a model sees: a pure function of namespace and tool name, so adding a source never renames a tool.
 *
 * Where the namespace has no underscore, the first one separates the two, so plain names cannot collide. Every other name ends in a hash of
 * the exact original: `a_b` and `c` beside `a` and `b_c`, names that had to be changed to fit (case, other characters, length), and names that
 * already look hashed.
 */
export function modelName(namespace: string, toolName: string, maxLength = usualLength): string {
  const plain = `${namespace}_${toolName}`;
  const isPlain = plain.length <= maxLength && /^[a-z0-9_-]+$/.test(plain) && !namespace.includes('_');
  if (isPlain && !looksHashed.test(plain)) return plain;
  const legal = plain.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, maxLength - hashLength - 1);
  // Hexadecimal is unique even where case is ignored, and hardly any word looks like it.
  return `${legal}_${hash('sha256', `${namespace}:${toolName}`, 'hex').slice(0, hashLength)}`;
}
