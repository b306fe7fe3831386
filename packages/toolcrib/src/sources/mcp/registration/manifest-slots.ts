import { isObject, type Json } from '../../../model/json.ts';
import type { ManifestArgument, ManifestInput } from './manifest-model.ts';
import { looksSecret } from '../../../secrets/secret-looks.ts';
import { variableNameFrom } from '../../registration/variable-name.ts';

/** Fills in the values that a manifest leaves open, from `config` and the manifest's own defaults only. */
export interface SlotFiller {
  argument(argument: ManifestArgument): string[];
  /** The text with its `{name}`s filled in; undefined if a value is missing. */
  text(input: ManifestInput, slot: string): string | undefined;
  /** Slots that are required and have no value. */
  readonly missing: string[];
}

export interface SlotFillerOptions {
  config: Json;
  /** Stores a secret as a variable and returns the variable's name. */
  putAside(variable: string, value: string): string;
  /** Called for a value that is not one of the choices. */
  refuse(slot: string, choices: string[]): never;
  /** Called for a value that the server would take for an option. */
  refuseOption(slot: string): never;
}

export function createSlotFiller({ config, putAside, refuse, refuseOption }: SlotFillerOptions): SlotFiller {
  const missing: string[] = [];

  function given(slot: string): string | undefined {
    if (!isObject(config) || !Object.hasOwn(config, slot)) return undefined;
    const value = config[slot];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  }

  function chosen(input: ManifestInput, slot: string): string | undefined {
    const value = given(slot) ?? input.default;
    if (value === undefined || value === '') return undefined;
    if (input.choices !== undefined && !value.includes('${') && !input.choices.includes(value)) refuse(slot, input.choices);
    if (!(input.secret || looksSecret(slot)) || /^\$\{\w+\}$/.test(value)) return value;
    return `\${${putAside(`CONFIG_${variableNameFrom(slot)}`, value)}}`;
  }

  function text(input: ManifestInput, slot: string): string | undefined {
    if (input.value === undefined) return chosen(input, slot);
    let complete = true;
    const filled = input.value.replaceAll(/\{([^{}]{1,200})\}/g, (whole, name: string) => {
      const variable = Object.hasOwn(input.variables, name) ? input.variables[name] : undefined;
      if (variable === undefined) return whole;
      const value = variable.value ?? chosen(variable, name);
      if (value !== undefined) return value;
      complete = false;
      if (variable.required && !missing.includes(name)) missing.push(name);
      return '';
    });
    return complete ? filled : undefined;
  }

  function argument(input: ManifestArgument): string[] {
    if (input.constant) return input.flag === null ? [] : [input.flag];
    const before = missing.length;
    const value = text(input, input.slot);
    if (value === undefined) {
      if (input.required && missing.length === before) missing.push(input.slot);
      return [];
    }
    // After an equals sign, a value that begins with a hyphen stays a value. Few programs read short flags that way.
    if (input.flag?.startsWith('--') === true) return [`${input.flag}=${value}`];
    if (looksLikeOption(value) && !ofManifest(input, value)) refuseOption(input.slot);
    return input.flag === null ? [value] : [input.flag, value];
  }

  return { argument, text, missing };
}

/** A negative number is not an option. */
function looksLikeOption(value: string): boolean {
  return /^-(?!\d+(?:\.\d+)?$)/.test(value);
}

/** Whether the manifest itself begins the value with a hyphen, and not a value from `config`. */
function ofManifest({ value: written, default: usual }: ManifestArgument, value: string): boolean {
  return written === undefined ? value === usual : written.startsWith('-');
}
