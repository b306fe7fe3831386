import { noLimits, remoteBreaker, type CallLimits } from '../model/call-limits.ts';
import type { Retries } from '../model/source-definition.ts';
import type { SourceRecord } from '../model/source.ts';
import { sourceTypeOf } from '../sources/registry.ts';

/** What all tools of a source have in common. */
export interface SourceFacts {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly limits: CallLimits;
  readonly timeoutMs: number | null;
  readonly retries: Retries | null;
  /** The same object for the same text: tools of a source repeat each other. */
  shared<Text extends string | null>(text: Text): Text;
  /** [UTCP-1] The tools of a manual keep its name, so that a group can select all of them. */
  sharedTags(tags: readonly string[]): readonly string[];
}

const known = new WeakMap<SourceRecord, SourceFacts>();

export function sourceFacts(source: SourceRecord): SourceFacts {
  let facts = known.get(source);
  if (facts === undefined) {
    facts = factsOf(source);
    known.set(source, facts);
  }
  return facts;
}

/** A source with more different lists of tags than this does not repeat itself. */
const mostShared = 10_000;

function factsOf(source: SourceRecord): SourceFacts {
  const { definition } = source;
  const manual = definition?.manual;
  const texts = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  return {
    id: source.id,
    name: source.name,
    namespace: source.namespace,
    limits: limitsOf(source),
    timeoutMs: definition === null ? null : definition.resilience.requestTimeoutMs,
    retries: retriesOf(source),
    shared(text) {
      if (text === null) return text;
      const same = texts.get(text);
      if (same === undefined && texts.size < mostShared) texts.set(text, text);
      return (same ?? text) as typeof text;
    },
    sharedTags(tags) {
      const key = JSON.stringify(tags);
      let list = lists.get(key);
      if (list === undefined) {
        list = manual === undefined || tags.includes(manual) ? tags : [...tags, manual];
        if (lists.size < mostShared) lists.set(key, list);
      }
      return list;
    },
  };
}

function retriesOf({ definition }: SourceRecord): Retries | null {
  const retries = definition?.resilience.retries;
  return retries === undefined || retries.maxAttempts === 0 ? null : retries;
}

function limitsOf(source: SourceRecord): CallLimits {
  if (source.definition === null) return noLimits;
  const { limits } = source.definition;
  const isElsewhere = sourceTypeOf(source.source_type).registration?.isElsewhere(source.definition) === true;
  if (limits.breaker === undefined && isElsewhere) return { ...limits, breaker: remoteBreaker };
  return Object.keys(limits).length === 0 ? noLimits : limits;
}
