import { expect, test } from 'vitest';
import { failureOf, openBuiltins, structuredOf, textOf } from './builtin-caller.ts';

const { callNow } = openBuiltins();

test.each([
  [1, 'km', 'm', 1000, 'length'],
  [5, 'mi', 'km', 8.04672, 'length'],
  [1, 'ft', 'in', 12, 'length'],
  [1, 'nmi', 'm', 1852, 'length'],
  [1, 'kg', 'lb', 2.20462262184878, 'mass'],
  [1, 'lb', 'oz', 16, 'mass'],
  [100, 'C', 'F', 212, 'temperature'],
  [32, 'F', 'C', 0, 'temperature'],
  [0, 'K', 'C', -273.15, 'temperature'],
  [0, 'K', 'F', -459.67, 'temperature'],
  [-40, 'F', 'C', -40, 'temperature'],
  [98.6, 'F', 'C', 37, 'temperature'],
  [1, 'gal', 'L', 3.785411784, 'volume'],
  [1, 'cup', 'tbsp', 16, 'volume'],
  [1, 'm3', 'L', 1000, 'volume'],
  [1, 'ft3', 'in3', 1728, 'volume'],
  [1, 'imp_gal', 'imp_pt', 8, 'volume'],
  [1, 'ha', 'm2', 10_000, 'area'],
  [1, 'mi2', 'ac', 640, 'area'],
  [100, 'km/h', 'm/s', 27.7777777777778, 'speed'],
  [60, 'mph', 'km/h', 96.56064, 'speed'],
  [1, 'd', 'min', 1440, 'time'],
  [1, 'yr', 'd', 365.25, 'time'],
  [1, 'GB', 'MB', 1000, 'data'],
  [1, 'GiB', 'MiB', 1024, 'data'],
  [1, 'GiB', 'B', 1_073_741_824, 'data'],
  [100, 'Mbit', 'MB', 12.5, 'data'],
  [100, 'Mb', 'MB', 12.5, 'data'],
  [8, 'b', 'B', 1, 'data'],
  [1, 'kWh', 'MJ', 3.6, 'energy'],
  [1, 'kcal', 'kJ', 4.184, 'energy'],
  [1, 'MW', 'mW', 1_000_000_000, 'power'],
  [1, 'hp', 'W', 745.69987158227, 'power'],
  [1, 'atm', 'Pa', 101_325, 'pressure'],
  [1, 'atm', 'Torr', 760, 'pressure'],
  [1, 'bar', 'psi', 14.5037737730209, 'pressure'],
  [90, 'deg', 'rad', 1.5707963267949, 'angle'],
  [1, 'turn', 'deg', 360, 'angle'],
  [3, 'Kilometers', ' METRES ', 3000, 'length'],
  [1, 'square foot', 'square inches', 144, 'area'],
  [1, 'm²', 'cm^2', 10_000, 'area'],
  [20, '°C', 'fahrenheit', 68, 'temperature'],
  [5, 'µm', 'nm', 5000, 'length'],
  [1e308, 'km', 'km', 1e308, 'length'],
  [1, 'LB', 'OZ', 16, 'mass'],
  [1, 'fluid ounces', 'Tbsp', 2, 'volume'],
])('[BI-1] %d %s in %s is %d (%s)', (value, from, to, expected, quantity) => {
  const structured = structuredOf(callNow('convert_units', { value, from, to }));
  expect(structured).toMatchObject({ value: expected, quantity });
});

test('[BI-1] a conversion reads as an equation', () => {
  expect(textOf(callNow('convert_units', { value: 5, from: 'mi', to: 'km' }))).toBe('5 mi = 8.04672 km');
});

test('[BI-1] incompatible units are answered with the compatible ones', () => {
  const text = failureOf(callNow('convert_units', { value: 1, from: 'km', to: 'kg' }));
  expect(text).toContain('km is length, kg is mass');
  expect(text).toContain('length: m, km, cm');
});

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'parsec', 'Mg', 'mb', 'gb', ' ', 's'.repeat(40), '\u0000'])(
  '[BI-1] %j is not a unit, and the answer lists the known ones',
  (unit) => {
    const from = failureOf(callNow('convert_units', { value: 1, from: unit, to: 'km' }));
    expect(from).toContain('Unknown or ambiguous unit');
    expect(from).toContain('data: bit, kbit');
    const to = failureOf(callNow('convert_units', { value: 1, from: 'km', to: unit }));
    expect(to).toContain('length: m, km');
    expect(to).not.toContain('data: bit');
  },
);

test('[BI-1] a value too large to be expressed is a failure, not infinity', () => {
  expect(failureOf(callNow('convert_units', { value: 1e308, from: 'ly', to: 'nm' }))).toContain('too large');
});
