import type { JsonObject } from '../../model/json.ts';
import { ValidationError } from '../../model/named-errors.ts';

/*
 * Execution has already validated the arguments against the tool's input schema. These functions give the arguments their types, and refuse
 * wrong ones should a call ever bypass that check. Without `otherwise`, the argument is required.
 */

export function textArgument(args: JsonObject, name: string, otherwise?: string): string {
  const value = args[name] ?? otherwise;
  if (typeof value !== 'string') throw wrongArgument(name, 'a string');
  return value;
}

export function numberArgument(args: JsonObject, name: string, otherwise?: number): number {
  const value = args[name] ?? otherwise;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrongArgument(name, 'a number');
  return value;
}

export function choiceArgument<T extends string>(args: JsonObject, name: string, choices: readonly T[], otherwise: T): T {
  const value = args[name] ?? otherwise;
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw wrongArgument(name, `one of ${choices.join(', ')}`);
  return chosen;
}

export function objectArgument(args: JsonObject, name: string): JsonObject {
  const value = args[name] ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongArgument(name, 'an object');
  return value;
}

function wrongArgument(name: string, expected: string): ValidationError {
  return new ValidationError(`${name} must be ${expected}.`, { field: `arguments.${name}`, origin: 'caller' });
}
