import type { JsonObject } from '../../../model/json.ts';
import { onlyNames, refusesOthers } from './closed-members.ts';
import { familyOf } from './family.ts';
import { own } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { hiddenKeyword, type Around, type Direction } from './schema-around.ts';

interface SchemaMembersInput {
  document: OpenDocument;
  direction: Direction;
  warn(message: string): void;
  /** The reference that is being translated, as the document writes it; undefined if there is none. */
  current(): string | undefined;
}

/** Facts that the members of `allOf` and the keywords beside them need about each other, and the keyword that covers all of them. */
type MembersOf = (node: JsonObject, around: Around) => { within: Around; names?: JsonObject };

export function createSchemaMembers({ document, direction, warn, current }: SchemaMembersInput): MembersOf {
  let hasWarned = false;

  /** Warns only once: a generator that writes such schemas writes all of them that way. */
  function warnOnce(): void {
    if (hasWarned) return;
    hasWarned = true;
    warn(
      `additionalProperties in a part of allOf would refuse the properties of the other parts (${current() ?? 'in the body'}); ` +
        'it is not applied to them, here and in all similar schemas',
    );
  }

  return (node, around) => {
    const hasSiblings = siblingsCount(document) && own(node, '$ref') !== undefined && saysProperties(node);
    if (!Array.isArray(own(node, 'allOf')) && !hasSiblings) return { within: around };
    const family = familyOf(document, node);
    const hidden = family.hidden(hiddenKeyword(direction));
    const gone = hidden.size === 0 ? around.gone : new Set([...hidden, ...around.gone]);
    if (around.open || !refusesOthers(document, family)) return { within: { ...around, gone } };
    warnOnce();
    const listed = direction === 'request' ? onlyNames(family)?.filter((name) => !gone.has(name)) : undefined;
    return { within: { gone, open: true }, ...(listed === undefined ? {} : { names: { propertyNames: { enum: listed } } }) };
  };
}

/** Before 3.1, keywords beside a `$ref` are ignored. */
export function siblingsCount({ format }: OpenDocument): boolean {
  return format === '3.1' || format === '3.2';
}

function saysProperties(node: JsonObject): boolean {
  return Object.hasOwn(node, 'properties') || Object.hasOwn(node, 'additionalProperties');
}
