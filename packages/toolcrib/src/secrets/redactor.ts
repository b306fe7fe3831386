import type { Json, JsonObject } from '../model/json.ts';
import { secretForms } from './secret-forms.ts';
import { hiddenValue } from './secret.ts';
import { createTextMatcher, shortestPattern, type TextMatcher } from './text-matcher.ts';

/** [ENV-4] Takes known secret values out of what is about to be shown, logged or answered. */
export interface Redactor {
  /** A value shorter than four letters would be found in everything and is passed over. */
  add(value: string): void;
  redact(text: string): string;
  /** Every text in it, and the names of fields; a number only where it is a secret as a whole. The same value where there is nothing. */
  redactJson(json: Json): Json;
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
  let made: { matcher: TextMatcher; values: ReadonlySet<string> } | undefined;
  const current = () => {
    const values = made === undefined ? valuesOf() : made.values;
    return (made ??= { values, matcher: createTextMatcher([...new Set([...values].flatMap(secretForms))]) });
  };
  const redact = (text: string) => current().matcher.replace(text, hiddenValue);
  const redactLeaf = (leaf: Leaf): Leaf => {
    if (typeof leaf === 'string') return redact(leaf);
    return typeof leaf === 'number' && current().values.has(String(leaf)) ? hiddenValue : leaf;
  };
  const redactor: Omit<Redactor, 'add'> = {
    redact,
    redactJson: (json) => (current().values.size > 0 && needsCopy(json, redactLeaf) ? copyOf(json, redactLeaf) : json),
  };
  return { redactor, changed: () => (made = undefined) };
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
    // Only what has more in it is put off: a list of millions of numbers is gone through as it is.
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
