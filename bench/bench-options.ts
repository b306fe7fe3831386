import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  rounds: number;
  seconds: number;
  users: number;
  /** The results are written under this name. */
  name: string;
  /** Which parts to run. */
  only: ReadonlySet<string>;
  /** The top folder of another checkout, installed, whose Toolcrib is measured in the same run. */
  beside: string | undefined;
}

interface BenchDefaults {
  parts: string[];
  name: string;
  users: number;
}

export function benchOptions(args: string[], { parts, name, users }: BenchDefaults): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
      users: { type: 'string', default: String(users) },
      name: { type: 'string', default: name },
      only: { type: 'string', default: parts.join(',') },
      beside: { type: 'string' },
    },
  });
  const only = values.only.split(',');
  const unknown = only.find((part) => !parts.includes(part));
  if (unknown !== undefined) throw new Error(`--only takes ${parts.join(', ')}, separated by commas, not ${unknown}`);
  if (!/^[\w-]+$/.test(values.name)) throw new Error('--name must consist of letters, digits, - and _');
  return {
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    users: positive('users', values.users),
    name: values.name,
    only: new Set(only),
    beside: values.beside === undefined ? undefined : resolve(values.beside),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not ${text}`);
  return value;
}
