import { pinnings } from '../model/source-definition.ts';
import { UsageError } from '../model/usage-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import type { CommandLine, GivenOptions } from '../sources/registration/command-line.ts';
import { givenChoice } from '../sources/registration/command-line/given-choice.ts';
import { andList } from '../text/lists.ts';
import { addChoice } from './add-choice.ts';
import { chooseKind, readOperand } from './choose-kind.ts';
import type { Given } from './given.ts';
import { kinds } from './kinds.ts';

export interface AddRegistration {
  kind: CommandLine;
  /** Makes the registration that the command line asks for, once its variables are known. */
  formWith(variables: Readonly<Record<string, string>>): object;
}

/** [SRC-1] Finds out of which kind the source is, so that a wrong command line is refused before a secret is asked for. */
export function addRegistration(given: Given): AddRegistration {
  const [first, ...rest] = given.operands;
  const operand = first === undefined ? undefined : readOperand(first);
  const kind = chooseKind(kinds, given, operand);
  refuseOthers(kind, given);
  const serverIsHere = isLoopbackHost(URL.parse(given.required('url'))?.hostname ?? '');
  const formWith = (variables: Readonly<Record<string, string>>) => {
    const { name, form } = kind.register({ given, operand, rest, variables, serverIsHere });
    return { ...commonFields(given, name), ...form };
  };
  formWith({});
  return { kind, formWith };
}

/** Refuses an option that only other kinds of source have. */
function refuseOthers(kind: CommandLine, given: GivenOptions): void {
  const others = new Set(kinds.flatMap(({ options }) => Object.keys(options)));
  const option = [...others].find((name) => !Object.hasOwn(kind.options, name) && given.origin(name) !== undefined);
  if (option === undefined) return;
  const nouns = kinds.filter(({ options }) => Object.hasOwn(options, option)).map(({ noun }) => noun);
  throw new UsageError(`--${option} is for ${andList(nouns)}, not for ${kind.noun}`, { field: option });
}

/** What every source has. */
function commonFields(given: Given, name: string): object {
  const namespace = given.text('namespace');
  const pinning = givenChoice(given, 'pinning', pinnings);
  const timeout = given.text('startup-timeout') === undefined ? undefined : given.number('startup-timeout', { least: 1, most: 3_600_000 });
  return {
    name: given.text('name') ?? name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(pinning === undefined ? {} : { pinning }),
    ...(timeout === undefined ? {} : { resilience: { startupTimeoutMs: timeout } }),
    ...addChoice(given),
  };
}
