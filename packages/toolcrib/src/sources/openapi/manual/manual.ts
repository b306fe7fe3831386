import { isObject, type Json, type JsonObject } from '../../../model/json.ts';

/** [UTCP-1] Whether a document is a UTCP manual: a list of tools, each with a call template. */
export function isManual(value: Json): value is JsonObject {
  if (!isObject(value) || !Array.isArray(value['tools']) || Object.hasOwn(value, 'openapi') || Object.hasOwn(value, 'swagger'))
    return false;
  return Object.hasOwn(value, 'utcp_version') || Object.hasOwn(value, 'manual_version');
}
