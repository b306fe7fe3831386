import { CribError } from '../model/crib-error.ts';
import type { NamedValue } from '../model/source-definition.ts';
import type { Redactor } from './redactor.ts';
import { ownerOf, sourceSecretName } from './secret-name.ts';
import type { SecretStore } from './secret-store.ts';

export interface FillInScope {
  secrets: Pick<SecretStore, 'get'>;
  /** Whose secrets may be used beside those that belong to nobody. */
  sourceId?: string;
  /** The variables that the source declares. */
  declared: Readonly<Record<string, NamedValue>>;
  /** Names of environment variables of ours that the operator lets sources see. */
  allowedNames: ReadonlySet<string>;
  environment: Readonly<Record<string, string | undefined>>;
  /** Called with every secret value that is used. */
  redactor?: Pick<Redactor, 'add'>;
}

/** [ENV-2] Fills in the variables and secrets that values name. Throws `VALIDATION_ERROR` where one is missing. */
export interface FillIn {
  /** `${NAME}` is replaced; `$${` stands for `${` itself. */
  text(template: string, field: string): Promise<string>;
  value(value: NamedValue, field: string): Promise<string>;
  /** What a variable of the source is, or undefined where it neither has a value nor a secret of the source's own. */
  variable(name: string, field: string): Promise<string | undefined>;
}

/** Linux takes no longer text in the environment or on a command line, and doubling variables end here. */
const longestText = 131_071;

const part = /\$\$\{|\$\{([^}]*)\}?/g;

export function createFillIn(scope: FillInScope): FillIn {
  const { secrets, sourceId, declared, redactor } = scope;
  /** A variable that many others name is filled in once, or a few dozen that name each other twice would take for ever. */
  const filled = new Map<string, string>();

  async function secretValue(name: string, field: string): Promise<string | undefined> {
    const owner = ownerOf(name);
    if (owner !== undefined && owner !== sourceId) {
      throw new CribError('VALIDATION_ERROR', `The secret ${name} belongs to another source: set one of another name`, { field });
    }
    const value = (await secrets.get(name))?.reveal();
    if (value !== undefined) redactor?.add(value);
    return value;
  }

  const ownSecret = async (name: string, field: string) =>
    sourceId === undefined ? undefined : secretValue(sourceSecretName(sourceId, name), field);

  /** A variable whose value names itself means what the name is outside of the source: `{"TOKEN": {"value": "${TOKEN}"}}`. */
  async function lookUp(name: string, field: string, within: readonly string[]): Promise<string> {
    const outer = within.at(-1) === name;
    if (!outer && within.includes(name)) {
      throw new CribError('VALIDATION_ERROR', `These variables name each other in a circle: ${[...within, name].join(', ')}`, { field });
    }
    const value = (outer ? undefined : await variable(name, field, within)) ?? (await secretValue(name, field)) ?? fromEnvironment(name);
    if (value !== undefined) return value;
    throw new CribError(
      'VALIDATION_ERROR',
      `There is no variable or secret ${name}: set it with \`toolcrib secrets set ${name}\`, give the source a variable of that name, or start the server with --allow-env ${name} to read it from its environment`,
      { field },
    );
  }

  function fromEnvironment(name: string): string | undefined {
    // Our own settings hold keys and tokens, and are nobody else's, whatever the list says.
    if (!scope.allowedNames.has(name) || /^TOOLCRIB_/i.test(name)) return undefined;
    return Object.hasOwn(scope.environment, name) ? scope.environment[name] : undefined;
  }

  async function variable(name: string, field: string, within: readonly string[]): Promise<string | undefined> {
    const known = filled.get(name);
    if (known !== undefined) return known;
    const value = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (value === undefined) return ownSecret(name, field);
    const text = await valueOf(value, field, [...within, name]);
    filled.set(name, text);
    return text;
  }

  async function valueOf(value: NamedValue, field: string, within: readonly string[]): Promise<string> {
    if ('value' in value) return fill(value.value, field, within);
    const secret = await secretValue(value.secret_ref, field);
    if (secret !== undefined) return secret;
    throw new CribError('VALIDATION_ERROR', `There is no secret ${value.secret_ref}: set it with \`toolcrib secrets set\``, { field });
  }

  /** Filled-in values are not searched again: a secret may contain anything. */
  async function fill(template: string, field: string, within: readonly string[]): Promise<string> {
    let text = '';
    let end = 0;
    for (const match of template.matchAll(part)) {
      const [whole, name] = match;
      text += template.slice(end, match.index) + (name === undefined ? '${' : await lookUp(checkedName(whole, name, field), field, within));
      end = match.index + whole.length;
      if (text.length > longestText) throw tooLong(field);
    }
    text += template.slice(end);
    if (text.length > longestText) throw tooLong(field);
    return text;
  }

  return {
    text: (template, field) => fill(template, field, []),
    value: (value, field) => valueOf(value, field, []),
    variable: (name, field) => variable(name, field, []),
  };
}

function checkedName(whole: string, name: string, field: string): string {
  if (whole.endsWith('}') && /^[A-Za-z0-9_.-]{1,200}$/.test(name)) return name;
  throw new CribError('VALIDATION_ERROR', `A variable is written \${NAME}, and $\${ where no variable is meant`, { field });
}

function tooLong(field: string): CribError {
  return new CribError('VALIDATION_ERROR', `With all variables filled in, the text is longer than ${longestText} letters`, { field });
}
