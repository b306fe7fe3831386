import { GraphQLError } from 'graphql/error';
import {
  Kind,
  parse,
  print,
  type ArgumentNode,
  type FieldNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql/language';
import { closest } from '../../../model/closest.ts';
import { ValidationError } from '../../../model/named-errors.ts';
import type { SelectableTypes } from '../schema/selectable-types.ts';

const longest = 20_000;
const mostTokens = 5000;
const mostFields = 500;
const deepest = 15;
/** How many names are compared at most to find the one that was meant. */
const mostCandidates = 2000;

interface SelectionRules {
  /** The name of the argument that holds the selection. */
  argument: string;
  /** The type whose fields may be selected. */
  type: string;
  types: SelectableTypes;
}

/**
 * Parses, checks and prints a caller's selection. Only the parsed selection is sent, so it cannot contain anything but fields of one
 * response: no other operation, no variables, no named fragments.
 */
export function chosenSelection(text: string, { argument, type, types }: SelectionRules): string {
  let fields = 0;
  const selectionSet = selectionIn(text);
  check(selectionSet, type, 1);
  return print(selectionSet);

  function bad(problem: string): ValidationError {
    const field = `arguments.${argument}`;
    return new ValidationError(`${field} ${problem}`, { field, origin: 'caller' });
  }

  function selectionIn(given: string): SelectionSetNode {
    if (given.length > longest) throw bad(`has more than ${longest} characters`);
    try {
      // The outer braces are optional.
      const written = /^(?:[\s,]|#.*\n)*\{/.test(given) ? given : `{ ${given}\n}`;
      const { definitions } = parse(written, { noLocation: true, maxLexicalTokens: mostTokens });
      const [only, another] = definitions;
      if (only?.kind === Kind.OPERATION_DEFINITION && another === undefined) return only.selectionSet;
    } catch (error) {
      if (error instanceof GraphQLError) throw bad(`is not a GraphQL selection: ${error.message.slice(0, 300)}. Write it like { id name }`);
      if (error instanceof RangeError) throw bad('is nested too deeply');
      throw error;
    }
    throw bad('must be one selection and nothing else, such as { id name }');
  }

  function check({ selections }: SelectionSetNode, on: string, depth: number): void {
    if (depth > deepest) throw bad(`is nested deeper than ${deepest} levels`);
    if (selections.length === 0) throw bad(`selects no fields of ${on}: write it like { ${examplesOf(on)} }`);
    for (const selection of selections) checkOne(selection, on, depth);
  }

  function checkOne(selection: SelectionNode, on: string, depth: number): void {
    if ((selection.directives ?? []).length > 0) throw bad('must have no directives: leave out the fields you do not want');
    if (++fields > mostFields) throw bad(`selects more than ${mostFields} fields`);
    switch (selection.kind) {
      case Kind.FRAGMENT_SPREAD:
        throw bad(`refers to the fragment ${selection.name.value}: write it inline, as in ... on ${on} { id }`);
      case Kind.INLINE_FRAGMENT: {
        const condition = selection.typeCondition?.name.value ?? on;
        fieldsOf(condition);
        return check(selection.selectionSet, condition, depth + 1);
      }
      case Kind.FIELD:
        return checkField(selection, on, depth);
    }
  }

  function checkField({ name: { value: name }, arguments: args = [], selectionSet }: FieldNode, on: string, depth: number): void {
    if (name === '__typename' && selectionSet === undefined) return;
    const [inner = '', ...accepted] = fieldOf(on, name).split(' ');
    checkArguments(`${on}.${name}`, args, accepted);
    if (inner === '' && selectionSet !== undefined) throw bad(`selects fields of ${on}.${name}, which has none`);
    if (inner !== '' && selectionSet === undefined)
      throw bad(`must say which fields of ${on}.${name} to return: ${name} { ${examplesOf(inner)} }`);
    if (selectionSet !== undefined) check(selectionSet, inner, depth + 1);
  }

  function fieldsOf(name: string): Record<string, string> {
    const found = Object.hasOwn(types, name) ? types[name] : undefined;
    if (found !== undefined) return found.fields;
    throw bad(`names the type ${name.slice(0, 100)}, which has no fields in this schema${meant(name, Object.keys(types))}`);
  }

  function fieldOf(on: string, name: string): string {
    const known = fieldsOf(on);
    const found = Object.hasOwn(known, name) ? known[name] : undefined;
    if (found !== undefined) return found;
    const { is = [] } = types[on] ?? {};
    const owner = is.find((possible) => Object.hasOwn(types[possible]?.fields ?? {}, name));
    const advice = owner === undefined ? meant(name, Object.keys(known)) : `. ${owner} has it: write ... on ${owner} { ${name} }`;
    throw bad(`asks for ${name.slice(0, 100)}, which ${on} does not have${advice}`);
  }

  function checkArguments(field: string, given: readonly ArgumentNode[], accepted: readonly string[]): void {
    const names = accepted.map((name) => name.replace('!', ''));
    for (const { name, value } of given) {
      if (!names.includes(name.value))
        throw bad(`gives ${field} the argument ${name.value}, which it does not take${meant(name.value, names)}`);
      if (hasVariable(value)) throw bad('must have no variables: write the values themselves');
    }
    const missing = accepted.find((name) => name.endsWith('!') && !given.some((argument) => `${argument.name.value}!` === name));
    if (missing !== undefined) throw bad(`must give ${field} the argument ${missing.replace('!', '')}`);
  }

  function examplesOf(name: string): string {
    const leaves = Object.entries(types[name]?.fields ?? {}).filter(([, written]) => written === '');
    return leaves.length === 0
      ? '__typename'
      : leaves
          .slice(0, 3)
          .map(([leaf]) => leaf)
          .join(' ');
  }
}

function meant(name: string, candidates: readonly string[]): string {
  const found = closest(name.slice(0, 100), candidates.slice(0, mostCandidates));
  return found === undefined ? '' : `. Did you mean ${found}?`;
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => hasVariable(field.value));
  return value.kind === Kind.VARIABLE;
}
