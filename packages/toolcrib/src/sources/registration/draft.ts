import type { NamedValue, Variable } from '../../model/source-definition.ts';
import { checkAddress as checkStrictly, type CheckAddress } from '../../net/check-address.ts';
import type { RegistrationContext } from './registration-context.ts';
import { createSecretCollector } from './secret-collector.ts';
import type { ValueInput } from './value-input.ts';
import { checkVariableName } from '../upstream/variable-names.ts';

type DraftInput = Pick<RegistrationContext, 'secretName' | 'checkLiteral' | 'checkAddress'>;

/** Collects values while a registration is turned into a definition. */
export interface Draft {
  readonly environment: Map<string, NamedValue>;
  readonly definitions: Variable[];
  readonly headers: Map<string, NamedValue>;
  /** Secret values, by the variable or field they were taken from. */
  readonly secrets: Record<string, string>;
  /** Paths of required values that are missing. */
  readonly missing: string[];
  setVariable(name: string, input: ValueInput, options: { field: string; secret: boolean }): void;
  /** Keeps a value that is not a variable, such as a token; `place` is its name among the secrets. */
  keep(place: string, input: ValueInput, options: { field: string; secret?: boolean }): NamedValue;
  /** Stores a secret as a new variable and returns the variable's name. */
  putAside(variable: string, value: string): string;
  /** [SEC-1] Refuses a host that must not be connected to. */
  checkLiteral(url: URL): void;
  /** [SEC-1] Refuses plain http to another machine, unless it is allowed. */
  checkAddress: CheckAddress;
}

export function createDraft({ secretName, checkLiteral = () => undefined, checkAddress = checkStrictly }: DraftInput): Draft {
  const collector = createSecretCollector(secretName);
  const { secrets, keep } = collector;
  const environment = new Map<string, NamedValue>();
  return {
    environment,
    definitions: [],
    headers: new Map(),
    secrets,
    missing: [],
    checkLiteral,
    checkAddress,
    keep,
    setVariable(name, input, { field, secret }) {
      checkVariableName(name, `${field}.${name}`.slice(0, 500), true);
      environment.set(name, keep(name, input, { field: `${field}.${name}`, secret }));
    },
    putAside(variable, value) {
      let name = variable;
      for (let count = 2; environment.has(name) && secrets[name] !== value; count++) name = `${variable}_${count}`;
      environment.set(name, keep(name, value, { field: 'command', secret: true }));
      return name;
    },
  };
}
