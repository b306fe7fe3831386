import type { SourceRecord } from '../model/source.ts';
import { modelName } from './model-name.ts';

/** [NAME-3] Two tools of a source that share one of these could be taken for one another: by a model, or by a person who reads them. */
export function nameKeys(source: SourceRecord, name: string): string[] {
  return [modelName(source.namespace, name).toLowerCase(), `:${name.toLowerCase()}`];
}
