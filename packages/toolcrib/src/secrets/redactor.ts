import type { Json, JsonObject } from '../model/json.ts';
import { mergeRanges, replaceRanges, type Range } from './covered-ranges.ts';
import { secretForms, wrappedForms } from './secret-forms.ts';
import { hiddenValue } from './secret.ts';
import { createTextMatcher, shortestPattern, type TextMatcher } from './text-matcher.ts';
import { unwrap, wrappedRanges } from './unwrapped-text.ts';

/** [ENV-4] Takes known secret values out of what is about to be shown, logged or answered. */
export interface Redactor {
  /** A value shorter than four letters would be found in everything and is passed over. */
  add(value: string): void;
  redact(text: string): string;
  /** Every text in it, and the names of fields; a number only where it is a secret as a whole. The same value where there is nothing. */
  redactJson(json: Json): Json;
  /** Texts that follow each other, for a value may begin in one and end in the next. The very same list where there is nothing. */
  redactTexts(texts: string[]): string[];
  /**
   * One that leaves alone what stands in `given`, in any form. For the answer to somebody who sent it: they learn nothing from what they
   * know, but would learn from *** that they have guessed right.
   */
  except(given: Json): Pick<Redactor, 'redact' | 'redactJson' | 'redactTexts'>;
}

export interface SourceRedactors extends Redactor {
  /** For what one source says: only its own values can be in it, and only they are looked for. */
  forSource(sourceId: string): Redactor;
  /** A source that is gone says nothing any more. */
  forgetSource(sourceId: string): void;
}

/**
 * The one that is made knows the values of all sources, and is meant for the log. Of its own it knows the last `most`: tokens come and go for
 * as long as a session lives.
 */
export function createRedactor({ most = Number.POSITIVE_INFINITY }: { most?: number } = {}): SourceRedactors {
  const sources = new Map<string, { redactor: Redactor; values: Set<string> }>();
  const own = new Set<string>();
  const all = createScope(() => {
    const union = new Set(own);
    for (const { values } of sources.values()) for (const value of values) union.add(value);
    return union;
  });
  return {
    ...all.redactor,
    add(value) {
      if (!addTo(own, value)) return;
      const [oldest] = own;
      if (own.size > most && oldest !== undefined) own.delete(oldest);
      all.changed();
    },
    forSource(sourceId) {
      const known = sources.get(sourceId);
      if (known !== undefined) return known.redactor;
      const values = new Set<string>();
      const scope = createScope(() => values);
      const redactor: Redactor = {
        ...scope.redactor,
        add(value) {
          if (!addTo(values, value)) return;
          scope.changed();
          all.changed();
        },
      };
      sources.set(sourceId, { redactor, values });
      return redactor;
    },
    forgetSource(sourceId) {
      if (sources.delete(sourceId)) all.changed();
    },
  };
}

function addTo(values: Set<string>, value: string): boolean {
  if (value.trim().length < shortestPattern || values.has(value)) return false;
  values.add(value);
  return true;
}

/** Its matcher is made when it is first needed after a change: values come one by one, and texts later. */
function createScope(valuesOf: () => ReadonlySet<string>) {
  let made: { matcher: TextMatcher; unwrapped?: TextMatcher; values: ReadonlySet<string> } | undefined;
  const current = () => {
    const values = made === undefined ? valuesOf() : made.values;
    return (made ??= { values, matcher: createTextMatcher([...new Set([...values].flatMap(secretForms))]) });
  };
  const coveredIn = (text: string): Range[] => {
    const known = current();
    const covered = known.matcher.coveredIn(text);
    const unwrapped = known.values.size === 0 ? undefined : unwrap(text);
    if (unwrapped === undefined) return covered;
    known.unwrapped ??= createTextMatcher([...new Set([...known.values].flatMap(wrappedForms))]);
    const wrapped = known.unwrapped.coveredIn(unwrapped);
    return wrapped.length === 0 ? covered : mergeRanges([...covered, ...wrappedRanges(text, wrapped)]);
  };
  const redact = (text: string) => {
    const covered = coveredIn(text);
    return covered.length === 0 ? text : replaceRanges(text, covered, hiddenValue);
  };
  const redactLeaf = (leaf: Leaf): Leaf => {
    if (typeof leaf === 'string') return redact(leaf);
    return typeof leaf === 'number' && current().values.has(String(leaf)) ? hiddenValue : leaf;
  };
  const redactor: Omit<Redactor, 'add'> = {
    redact,
    redactJson: (json) => (current().values.size > 0 && needsCopy(json, redactLeaf) ? copyOf(json, redactLeaf) : json),
    redactTexts(texts) {
      const covered = coveredIn(texts.join(''));
      return covered.length === 0 ? texts : redactedParts(texts, covered);
    },
    except(given) {
      const { names, texts } = textsIn(given);
      // Also where it was sent in pieces.
      const sent = [...names, ...texts, texts.join('')];
      const isSent = (value: string) => {
        const { coveredIn: find } = createTextMatcher(secretForms(value));
        return sent.some((text) => find(text).length > 0);
      };
      const { values } = current();
      const rest = new Set([...values].filter((value) => !isSent(value)));
      return rest.size === values.size ? redactor : createScope(() => rest).redactor;
    },
  };
  return { redactor, changed: () => (made = undefined) };
}

/** A secret that begins in one text and ends in another is replaced in the first. */
function redactedParts(texts: readonly string[], covered: readonly Range[]): string[] {
  let offset = 0;
  return texts.map((text) => {
    const [from, to] = [offset, offset + text.length];
    offset = to;
    const inside = covered.filter(([start, end]) => start < to && end > from);
    const begun = inside.filter(([start]) => start < from);
    const rest = text.slice(Math.min(text.length, (begun.at(-1)?.[1] ?? from) - from));
    const cut = text.length - rest.length;
    const own = inside.filter(([start]) => start >= from);
    const ranges = own.map(([start, end]): Range => [start - from - cut, Math.min(end, to) - from - cut]);
    return replaceRanges(rest, ranges, hiddenValue);
  });
}

/** Every text and number in it, in order, and the names of fields. */
function textsIn(json: Json): { names: string[]; texts: string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  const left: Json[] = [json];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
    else if (!isLeaf(value)) {
      if (!Array.isArray(value)) for (const name of Object.keys(value)) names.push(name);
      for (const inner of Object.values(value).toReversed()) left.push(inner);
    }
  }
  return { names, texts };
}

type Leaf = null | boolean | number | string;
type Container = Json[] | JsonObject;

function isLeaf(value: Json): value is Leaf {
  return typeof value !== 'object' || value === null;
}

// Both go over the value with a list of what is still to do instead of calling themselves: what a hostile server sends can be nested
// deeper than any stack.

function needsCopy(json: Json, redact: (leaf: Leaf) => Leaf): boolean {
  if (isLeaf(json)) return redact(json) !== json;
  const left: Container[] = [json];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    // Only nested values are put off: a list of millions of numbers is searched at once.
    for (const inner of Array.isArray(value) ? value : Object.values(value)) {
      if (!isLeaf(inner)) left.push(inner);
      else if (redact(inner) !== inner) return true;
    }
    if (!Array.isArray(value) && Object.keys(value).some((name) => redact(name) !== name)) return true;
  }
  return false;
}

function copyOf(json: Json, redact: (leaf: Leaf) => Leaf): Json {
  const left: [from: Container, to: Container][] = [];
  const begin = (value: Json): Json => {
    if (isLeaf(value)) return redact(value);
    const copy: Container = Array.isArray(value) ? [] : {};
    left.push([value, copy]);
    return copy;
  };
  const copied = begin(json);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [from, to] = next;
    if (Array.isArray(from)) for (const inner of from) (to as Json[]).push(begin(inner));
    else {
      // Defined and not assigned: a field named `__proto__` is a field like any other.
      for (const [name, inner] of Object.entries(from)) {
        Object.defineProperty(to, redact(name) as string, { value: begin(inner), enumerable: true, writable: true, configurable: true });
      }
    }
  }
  return copied;
}
