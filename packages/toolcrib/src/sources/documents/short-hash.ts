import { hash } from 'node:crypto';

/** A suffix that keeps equal names apart. It stays the same on every import. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 8);
}
