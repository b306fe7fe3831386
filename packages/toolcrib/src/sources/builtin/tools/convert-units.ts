import { printNumber, roundToSignificant, sum } from '../arithmetic/significant-digits.ts';
import { numberArgument, textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { failedOutput, harmless, structuredOutput } from '../builtin-tool.ts';
import { findUnit, listUnits, quantities } from '../units.ts';

const unitField = { type: 'string', minLength: 1, maxLength: 40 };

export const convertUnitsTool: BuiltinTool = {
  definition: {
    name: 'convert_units',
    title: 'Convert units',
    description:
      `Converts a value from one unit to another of the same quantity: ${quantities.join(', ')}. ` +
      'Units are symbols (km, lb, m2, km/h, MB, MiB, kWh, C) or English names (kilometers, square feet); capitals count in symbols (mW is not MW). ' +
      'gal, pt and fl_oz are US measures (imp_gal, imp_pt, imp_fl_oz are imperial); a year is 365.25 days and a month a twelfth of it.',
    input_schema: {
      type: 'object',
      properties: {
        value: { type: 'number', description: 'The value to convert' },
        from: { ...unitField, description: 'The unit the value is in, for example "mi"' },
        to: { ...unitField, description: 'The unit wanted, for example "km"' },
      },
      required: ['value', 'from', 'to'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        value: { type: 'number', description: 'The value in the unit asked for' },
        unit: { type: 'string', description: 'The symbol of that unit' },
        quantity: { type: 'string', description: 'What is measured, for example "length"' },
      },
      required: ['value', 'unit', 'quantity'],
      additionalProperties: false,
    },
    annotations: { title: 'Convert units', ...harmless },
  },
  tags: ['math'],
  run(args) {
    const given = numberArgument(args, 'value');
    const fromText = textArgument(args, 'from');
    const from = findUnit(fromText);
    if (!from) return unknownUnit(fromText);
    const toText = textArgument(args, 'to');
    const to = findUnit(toText);
    if (!to) return unknownUnit(toText, from.quantity);
    if (from.quantity !== to.quantity) {
      return failedOutput(
        `${from.symbol} is ${from.quantity}, ${to.symbol} is ${to.quantity}. ${from.symbol} converts to ${listUnits(from.quantity)}.`,
      );
    }
    const value = roundToSignificant(sum(sum(given, -from.offset) * (from.scale / to.scale), to.offset));
    if (!Number.isFinite(value)) return failedOutput(`${given} ${from.symbol} is too large to express in ${to.symbol}.`);
    return structuredOutput(
      { value, unit: to.symbol, quantity: to.quantity },
      `${printNumber(given)} ${from.symbol} = ${printNumber(value)} ${to.symbol}`,
    );
  },
};

function unknownUnit(text: string, quantity?: string) {
  return failedOutput(`Unknown or ambiguous unit ${JSON.stringify(text)}. Units are ${listUnits(quantity)}.`);
}
