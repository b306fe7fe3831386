import { hash } from 'node:crypto';

/** Tells two names apart that would be the same; the same on every import. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 8);
}
