import { printable } from './printable.ts';

/** Formats a command with shell quoting. */
export function shellCommand(command: readonly string[]): string {
  return command.map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", "'\\''")}'`)).join(' ');
}
