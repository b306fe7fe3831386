import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { Family } from './family.ts';
import { objectAt, own } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { valueTypes } from './value-types.ts';

/**
 * `additionalProperties` knows only the properties beside it. In a member of `allOf` it also applies to the properties of the other
 * members. If it refuses those properties, no value could satisfy both members, which no author intends.
 */
export function refusesOthers(document: OpenDocument, { members, properties }: Family): boolean {
  return [...members].some((member) => {
    const additional = closingKeyword(member);
    if (additional === undefined) return false;
    const others = [...properties].filter(([name]) => !isNamed(member, name));
    if (additional === false) return others.length > 0;
    const allowed = valueTypes(document, additional);
    return others.some(([, property]) => haveNothingInCommon(valueTypes(document, property), allowed));
  });
}

/** Whether any member restricts the properties that it does not name. */
export function isClosed({ members }: Family): boolean {
  return [...members].some((member) => closingKeyword(member) !== undefined);
}

/**
 * The names of all allowed properties, if a member allows no others. Undefined if others are allowed, or if a keyword allows names that
 * cannot be listed.
 */
export function onlyNames({ members, properties, complete }: Family): string[] | undefined {
  const unlisted = ['anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas', '$dynamicRef'];
  const all = [...members];
  if (!complete || !all.some((member) => own(member, 'additionalProperties') === false)) return undefined;
  if (all.some((member) => unlisted.some((keyword) => Object.hasOwn(member, keyword)))) return undefined;
  return [...properties.keys()];
}

function haveNothingInCommon(one: ReadonlySet<string> | undefined, other: ReadonlySet<string> | undefined): boolean {
  return one !== undefined && other !== undefined && ![...one].some((type) => other.has(type));
}

function closingKeyword(member: JsonObject): Json | undefined {
  const additional = own(member, 'additionalProperties');
  return additional === false || (isObject(additional) && Object.keys(additional).length > 0) ? additional : undefined;
}

function isNamed(member: JsonObject, name: string): boolean {
  if (Object.hasOwn(objectAt(own(member, 'properties')), name)) return true;
  return Object.keys(objectAt(own(member, 'patternProperties'))).length > 0;
}
