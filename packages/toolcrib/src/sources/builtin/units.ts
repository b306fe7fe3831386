/** One unit: base = (value - offset) * scale, where the base unit of each quantity has scale 1. */
export interface Unit {
  readonly quantity: string;
  readonly symbol: string;
  readonly scale: number;
  readonly offset: number;
}

/** Scale, symbol, then names (lower case; plurals in -s are understood) and further symbols (with capitals, or a single letter). */
type UnitRow = readonly [scale: number, symbol: string, ...names: string[]];

const day = 86_400;
const year = 365.25 * day;
const foot = 0.3048;
const inch = 0.0254;
const mile = 1609.344;
const pound = 0.45359237;
const gallon = 3.785411784;
const imperialGallon = 4.54609;

const rowsByQuantity: Readonly<Record<string, readonly UnitRow[]>> = {
  length: [
    [1, 'm', 'meter', 'metre'],
    [1e3, 'km', 'kilometer', 'kilometre'],
    [0.01, 'cm', 'centimeter', 'centimetre'],
    [1e-3, 'mm', 'millimeter', 'millimetre'],
    [1e-6, 'um', 'micrometer', 'micrometre', 'micron'],
    [1e-9, 'nm', 'nanometer', 'nanometre'],
    [inch, 'in', 'inch', 'inches'],
    [foot, 'ft', 'foot', 'feet'],
    [3 * foot, 'yd', 'yard'],
    [mile, 'mi', 'mile'],
    [1852, 'nmi', 'nautical mile', 'NM'],
    [149_597_870_700, 'au', 'astronomical unit'],
    [9_460_730_472_580_800, 'ly', 'light year', 'lightyear'],
  ],
  mass: [
    [1, 'kg', 'kilogram', 'kilogramme'],
    [1e-3, 'g', 'gram', 'gramme'],
    [1e-6, 'mg', 'milligram'],
    [1e-9, 'ug', 'microgram', 'mcg'],
    [1e3, 't', 'tonne', 'metric ton'],
    [pound, 'lb', 'pound', 'lbs'],
    [pound / 16, 'oz', 'ounce'],
    [14 * pound, 'st', 'stone'],
    [2000 * pound, 'short_ton', 'us ton'],
    [2240 * pound, 'long_ton', 'imperial ton'],
  ],
  volume: [
    [1, 'L', 'l', 'liter', 'litre'],
    [1e-3, 'mL', 'milliliter', 'millilitre', 'cc'],
    [0.01, 'cL', 'centiliter', 'centilitre'],
    [0.1, 'dL', 'deciliter', 'decilitre'],
    [1e3, 'm3', 'cubic meter', 'cubic metre'],
    [1e-3, 'cm3', 'cubic centimeter', 'cubic centimetre'],
    [(inch * 10) ** 3, 'in3', 'cubic inch', 'cubic inches'],
    [(foot * 10) ** 3, 'ft3', 'cubic foot', 'cubic feet'],
    [gallon, 'gal', 'gallon', 'us gallon'],
    [gallon / 4, 'qt', 'quart'],
    [gallon / 8, 'pt', 'pint'],
    [gallon / 16, 'cup'],
    [gallon / 128, 'fl_oz', 'fluid ounce'],
    [gallon / 256, 'tbsp', 'tablespoon'],
    [gallon / 768, 'tsp', 'teaspoon'],
    [imperialGallon, 'imp_gal', 'imperial gallon', 'uk gallon'],
    [imperialGallon / 8, 'imp_pt', 'imperial pint', 'uk pint'],
    [imperialGallon / 160, 'imp_fl_oz', 'imperial fluid ounce'],
  ],
  area: [
    [1, 'm2', 'square meter', 'square metre', 'sqm'],
    [1e6, 'km2', 'square kilometer', 'square kilometre'],
    [1e-4, 'cm2', 'square centimeter', 'square centimetre'],
    [1e-6, 'mm2', 'square millimeter', 'square millimetre'],
    [1e4, 'ha', 'hectare'],
    [inch ** 2, 'in2', 'square inch', 'square inches'],
    [foot ** 2, 'ft2', 'square foot', 'square feet', 'sqft'],
    [(3 * foot) ** 2, 'yd2', 'square yard'],
    [4840 * (3 * foot) ** 2, 'ac', 'acre'],
    [mile ** 2, 'mi2', 'square mile'],
  ],
  speed: [
    [1, 'm/s', 'mps', 'meter per second', 'meters per second', 'metres per second'],
    [1 / 3.6, 'km/h', 'kph', 'kmh', 'kilometer per hour', 'kilometers per hour', 'kilometres per hour'],
    [mile / 3600, 'mph', 'mi/h', 'mile per hour', 'miles per hour'],
    [1852 / 3600, 'kn', 'knot', 'kt'],
    [foot, 'ft/s', 'fps', 'foot per second', 'feet per second'],
  ],
  time: [
    [1, 's', 'sec', 'second'],
    [1e-3, 'ms', 'millisecond'],
    [1e-6, 'us', 'microsecond'],
    [1e-9, 'ns', 'nanosecond'],
    [60, 'min', 'minute'],
    [3600, 'h', 'hr', 'hour'],
    [day, 'd', 'day'],
    [7 * day, 'wk', 'week'],
    [year / 12, 'mo', 'month'],
    [year, 'yr', 'year'],
  ],
  data: [
    [1, 'bit', 'b'],
    [1e3, 'kbit', 'kilobit', 'Kb'],
    [1e6, 'Mbit', 'megabit', 'Mb'],
    [1e9, 'Gbit', 'gigabit', 'Gb'],
    [1e12, 'Tbit', 'terabit', 'Tb'],
    [8, 'B', 'byte'],
    [8e3, 'kB', 'KB', 'kilobyte'],
    [8e6, 'MB', 'megabyte'],
    [8e9, 'GB', 'gigabyte'],
    [8e12, 'TB', 'terabyte'],
    [8e15, 'PB', 'petabyte'],
    [8 * 2 ** 10, 'KiB', 'kibibyte'],
    [8 * 2 ** 20, 'MiB', 'mebibyte'],
    [8 * 2 ** 30, 'GiB', 'gibibyte'],
    [8 * 2 ** 40, 'TiB', 'tebibyte'],
    [8 * 2 ** 50, 'PiB', 'pebibyte'],
  ],
  energy: [
    [1, 'J', 'joule'],
    [1e3, 'kJ', 'kilojoule'],
    [1e6, 'MJ', 'megajoule'],
    [4.184, 'cal', 'calorie'],
    [4184, 'kcal', 'kilocalorie'],
    [3600, 'Wh', 'watt hour'],
    [3.6e6, 'kWh', 'kilowatt hour'],
    [3.6e9, 'MWh', 'megawatt hour'],
    [1055.05585262, 'BTU', 'british thermal unit'],
    [1.602176634e-19, 'eV', 'electronvolt'],
    [pound * foot * 9.80665, 'ft_lb', 'foot pound'],
  ],
  power: [
    [1, 'W', 'watt'],
    [1e-3, 'mW', 'milliwatt'],
    [1e3, 'kW', 'kilowatt'],
    [1e6, 'MW', 'megawatt'],
    [1e9, 'GW', 'gigawatt'],
    [745.6998715822702, 'hp', 'horsepower'],
    [735.49875, 'PS', 'metric horsepower'],
    [1055.05585262 / 3600, 'BTU/h'],
  ],
  pressure: [
    [1, 'Pa', 'pascal'],
    [100, 'hPa', 'hectopascal'],
    [1e3, 'kPa', 'kilopascal'],
    [1e6, 'MPa', 'megapascal'],
    [1e5, 'bar'],
    [100, 'mbar', 'millibar'],
    [101_325, 'atm', 'atmosphere'],
    [6894.757293168361, 'psi'],
    [101_325 / 760, 'Torr', 'torr'],
    [133.322387415, 'mmHg'],
    [3386.389, 'inHg'],
  ],
  angle: [
    [1, 'rad', 'radian'],
    [1e-3, 'mrad', 'milliradian'],
    [Math.PI / 180, 'deg', 'degree'],
    [Math.PI / 200, 'grad', 'gon', 'gradian'],
    [Math.PI / 10_800, 'arcmin', 'arcminute', 'minute of arc'],
    [Math.PI / 648_000, 'arcsec', 'arcsecond', 'second of arc'],
    [2 * Math.PI, 'turn', 'revolution'],
  ],
};

/** Temperature scales have different zeros. Celsius is the base, so that 32 °F is 0 °C without rounding. */
const temperatures: readonly [offset: number, ...UnitRow][] = [
  [0, 1, 'C', 'celsius', 'degree celsius', 'degrees celsius', 'degc'],
  [273.15, 1, 'K', 'kelvin'],
  [32, 5 / 9, 'F', 'fahrenheit', 'degree fahrenheit', 'degrees fahrenheit', 'degf'],
  [491.67, 5 / 9, 'R', 'rankine'],
];

/** Symbols that mean the same in any letter case. All other symbols are case-sensitive: mW is a milliwatt, MW a megawatt. */
const anyCase = new Set(
  (
    'km cm kg in ft yd mi nmi lb oz st gal qt pt cup fl_oz tbsp tsp imp_gal imp_pt imp_fl_oz ha ac km/h m/s mph kn ft/s min bit ' +
    'KiB MiB GiB TiB PiB kcal kWh BTU kW hp BTU/h bar mbar atm psi Torr mmHg inHg deg rad C F K'
  ).split(' '),
);

const bySymbol = new Map<string, Unit>();
/** The keys are in lower case, with single spaces. */
const byName = new Map<string, Unit>();
const symbolsByQuantity = new Map<string, string[]>();

function add(quantity: string, offset: number, [scale, symbol, ...names]: UnitRow): void {
  const unit: Unit = { quantity, symbol, scale, offset };
  bySymbol.set(symbol, unit);
  if (anyCase.has(symbol)) byName.set(foldName(symbol), unit);
  for (const name of names) (name === foldName(name) && name.length > 1 ? byName : bySymbol).set(name, unit);
  const symbols = symbolsByQuantity.get(quantity);
  if (symbols) symbols.push(symbol);
  else symbolsByQuantity.set(quantity, [symbol]);
}

function foldName(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]+/g, ' ');
}

for (const [quantity, rows] of Object.entries(rowsByQuantity)) for (const row of rows) add(quantity, 0, row);
for (const [offset, ...row] of temperatures) add('temperature', offset, row);

/** Finds a unit by symbol or name: `km`, `Kilometers`, `square feet`, `m²`, `°C`. Undefined if the text is no unit, or is ambiguous. */
export function findUnit(text: string): Unit | undefined {
  const exact = bySymbol.get(text);
  if (exact) return exact;
  const plain = text.trim().replaceAll(/[°^]/g, '').replaceAll('²', '2').replaceAll('³', '3').replaceAll(/[µμ]/g, 'u');
  const name = foldName(plain);
  return bySymbol.get(plain) ?? byName.get(name) ?? (name.endsWith('s') ? byName.get(name.slice(0, -1)) : undefined);
}

/** `length: m, km, …`, for one quantity or for all of them. */
export function listUnits(quantity?: string): string {
  if (quantity !== undefined) return `${quantity}: ${symbolsByQuantity.get(quantity)?.join(', ') ?? ''}`;
  return [...symbolsByQuantity.keys()].map((each) => listUnits(each)).join('; ');
}

export const quantities: readonly string[] = [...symbolsByQuantity.keys()];
