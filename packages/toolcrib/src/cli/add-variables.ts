import { text as readText } from 'node:stream/consumers';
import type { ReadStream } from 'node:tty';
import { looksLikeSecretValue, looksSecret } from '../secrets/secret-looks.ts';
import { readSecretValue } from './read-secret-value.ts';
import { remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

/** The variables of `--env NAME=VALUE` and `--secret NAME[=VALUE]`; secrets without a value are asked for, or read from standard input. */
export async function addVariables(
  given: { env: readonly string[]; secret: readonly string[] },
  input: ReadStream,
): Promise<Record<string, string>> {
  const variables = new Map<string, string>();
  const set = (option: string, name: string, value: string) => {
    if (variables.has(name)) throw new UsageError(`${name} is given twice`, { field: option });
    variables.set(name, value);
  };
  for (const pair of given.env) {
    const [name, value] = split('env', pair);
    if (value === undefined) throw new UsageError(`--env must be NAME=VALUE, not ${JSON.stringify(pair)}`, { field: 'env' });
    set('env', name, value);
  }
  const secrets = given.secret.map((written) => split('secret', written));
  const read = await readValues(
    secrets.flatMap(([name, value]) => (value === undefined ? [name] : [])),
    input,
  );
  for (const [name, written] of secrets) {
    const value = written ?? read.get(name) ?? '';
    if (value === '') throw new UsageError(`The secret ${name} has no value`, { field: 'secret' });
    if (looksSecret(name) || looksLikeSecretValue(value)) set('secret', name, value);
    else {
      // A value that does not look like a secret is stored under a name that does, and the variable refers to it.
      set('secret', `${name}_SECRET`, value);
      set('secret', name, `\${${name}_SECRET}`);
    }
  }
  return Object.fromEntries(variables);
}

function split(option: 'env' | 'secret', written: string): [name: string, value: string | undefined] {
  const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(written) ?? [];
  // Not repeated: it may be a secret in the wrong place.
  if (name === undefined) throw new UsageError(`--${option} must start with the name of a variable`, { field: option });
  return [name, value];
}

/** At a terminal, asks for one after the other. Otherwise standard input is the only value, or has one value per line in the order of the options. */
async function readValues(names: readonly string[], input: ReadStream): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  if (names.length < 2 || input.isTTY) {
    for (const name of names) {
      if (input.isTTY) remark(`The secret ${name}:`);
      values.set(name, await readSecretValue(input));
    }
    return values;
  }
  const lines = (await readText(input)).replace(/\r?\n$/, '').split(/\r?\n/);
  if (lines.length !== names.length) {
    const expected = `${names.length} lines, one for each of ${names.join(', ')}`;
    throw new UsageError(`Standard input must have ${expected}, but it has ${lines.length}`, { field: 'secret' });
  }
  for (const [index, name] of names.entries()) values.set(name, lines[index] ?? '');
  return values;
}
