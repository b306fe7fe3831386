import { isObject, type Json } from '../../../model/json.ts';
import type { Draft } from '../../registration/draft.ts';
import { invalid } from '../../registration/invalid.ts';
import { declared, type ManifestVariable } from './manifest-model.ts';
import { createSlotFiller, type SlotFiller } from './manifest-slots.ts';
import type { ValueInput } from '../../registration/value-input.ts';
import { checkVariableName } from '../../upstream/variable-names.ts';

/** A variable as a registration gives it, in either form. */
export interface GivenVariable {
  input: ValueInput | undefined;
  secret: boolean;
}

export interface VariablesToRead {
  given: ReadonlyMap<string, GivenVariable>;
  declared: readonly ManifestVariable[];
  filler: SlotFiller;
  config: Json;
  /** The request field that holds the variables. */
  field: string;
}

/** [ENV-1] Merges the variables that a manifest declares with those that were registered. */
export function readVariables(draft: Draft, { given, declared: variables, filler, config, field }: VariablesToRead): void {
  for (const variable of variables) {
    const { name } = variable;
    checkVariableName(name, `${field}.${name}`, true);
    draft.definitions.push(declared(variable));
    const registered = given.get(name);
    const fromManifest = variable.value === undefined ? (configured(config, name) ?? variable.default) : filler.text(variable, name);
    const input = registered?.input ?? fromManifest;
    if (typeof input === 'string' && variable.choices !== undefined && !input.includes('${') && !variable.choices.includes(input)) {
      throw invalid(`${field}.${name}`, `${name} must be one of: ${variable.choices.join(', ')}`);
    }
    if (input !== undefined && !isEmpty(input))
      draft.setVariable(name, input, { field, secret: variable.secret || registered?.secret === true });
    else if (variable.required) draft.missing.push(`${field}.${name}`);
  }
  const known = new Set(variables.map(({ name }) => name));
  for (const [name, { input, secret }] of given) {
    if (!known.has(name) && input !== undefined) draft.setVariable(name, input, { field, secret });
  }
}

/** Fills the slots of a manifest from `config`, and stores the secrets among them as variables. */
export function slotFiller(draft: Draft, config: Json, field: string): SlotFiller {
  return createSlotFiller({
    config,
    putAside: draft.putAside,
    refuse(slot, choices) {
      throw invalid(`${field}.${slot}`, `${slot} must be one of: ${choices.join(', ')}`);
    },
    refuseOption(slot) {
      throw invalid(`${field}.${slot}`, `${slot} cannot begin with a hyphen: the server would take it for an option`);
    },
  });
}

function isEmpty(input: ValueInput): boolean {
  return typeof input === 'string' ? input === '' : 'value' in input && input.value === '';
}

function configured(config: Json, name: string): string | undefined {
  if (!isObject(config) || !Object.hasOwn(config, name)) return undefined;
  const value = config[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
