import type { JsonObject } from '../../model/json.ts';

export interface Insertion {
  /** Of the whole file. */
  table: string;
  name: string;
  entry: JsonObject;
}
