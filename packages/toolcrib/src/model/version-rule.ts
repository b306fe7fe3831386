/** Which versions of a package may run. */
export type VersionRule = (version: string) => boolean;

type Release = readonly number[];

const written = /^v?(\d{1,15}(?:\.\d{1,15}){0,5})(.*)$/;
const comparator = /^(\^|~=|~|>=|<=|>|<|===?|=|!=)?\s*v?(\d{1,15}(?:\.(?:\d{1,15}|[x*]))*)$/i;

/**
 * Reads a rule as npm and Python write them: `1.2.3`, `1.x`, `==1.*`, `^1.2`, `~1.2`, `~=1.2`, `>=1.2 <2`, or `*` for whichever. Gives
 * undefined for what is none. A pre-release passes only where it is named as it is: nobody who allows 1.x means 1.9.0-rc.1.
 */
export function versionRule(rule: string): VersionRule | undefined {
  const text = rule.trim();
  if (text === '*') return (version) => written.test(version);
  const parts = text.replaceAll(/([\^~<>=!]+)\s+/g, '$1').split(/[\s,]+/);
  const comparators = parts.map(compare);
  if (comparators.every((one) => one !== undefined)) {
    return (version) => {
      const release = plainRelease(version);
      return release !== undefined && comparators.every((holds) => holds(release));
    };
  }
  // One version with a suffix: `1.0.0-rc.1`, `2.0b3`.
  const exact = text.replace(/^={1,3}\s*/, '');
  return parts.length === 1 && /^v?\d[\w.+-]*$/.test(exact) ? (version) => version === exact : undefined;
}

/** The numbers of a version without a suffix; what a build adds behind `+` says nothing about it. */
function plainRelease(version: string): Release | undefined {
  const [, numbers = '', suffix = ''] = written.exec(version) ?? [];
  return numbers === '' || !/^(?:\+[\w.-]*)?$/.test(suffix) ? undefined : numbers.split('.').map(Number);
}

function compare(text: string): ((release: Release) => boolean) | undefined {
  const [, operator = '=', numbers = ''] = comparator.exec(text) ?? [];
  if (numbers === '') return undefined;
  const parts = numbers.split('.');
  const wild = parts.findIndex((part) => /[x*]/i.test(part));
  const from = (wild < 0 ? parts : parts.slice(0, wild)).map(Number);
  const within = (end: Release) => (release: Release) => order(release, from) >= 0 && order(release, end) < 0;
  switch (operator) {
    case '^': {
      const first = from.findIndex((number) => number > 0);
      return within(next(from, first < 0 ? from.length - 1 : first));
    }
    case '~':
      return within(next(from, Math.min(1, from.length - 1)));
    case '~=':
      return within(next(from, Math.max(0, from.length - 2)));
    case '>=':
      return (release) => order(release, from) >= 0;
    case '<':
      return (release) => order(release, from) < 0;
    case '>':
      return (release) => order(release, from) > 0;
    case '<=':
      return (release) => order(release, from) <= 0;
    case '!=':
      return wild < 0 ? (release) => order(release, from) !== 0 : (release) => !within(next(from, from.length - 1))(release);
    default:
      return wild < 0 ? (release) => order(release, from) === 0 : within(next(from, from.length - 1));
  }
}

/** The first release that differs at this place: after 1.2.3 at 1 comes 1.3. */
function next(release: Release, place: number): Release {
  return [...release.slice(0, place), (release[place] ?? 0) + 1];
}

/** What is not said is 0: 1.2 is 1.2.0. */
function order(a: Release, b: Release): number {
  for (let place = 0; place < Math.max(a.length, b.length); place++) {
    const difference = (a[place] ?? 0) - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
