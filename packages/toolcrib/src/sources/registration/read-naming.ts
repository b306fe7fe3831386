import { invalid } from './invalid.ts';
import { checkNamespace, namespaceFromName } from './namespace.ts';

/** [SRC-10] [NAME-2] What a source is called. */
export function readNaming(form: { name?: string | undefined; namespace?: string | undefined }): { name: string; namespace: string } {
  const name = (form.name ?? '').trim();
  if (name === '') throw invalid('name', 'Name is required');
  return { name, namespace: form.namespace === undefined ? namespaceFromName(name) : checkNamespace(form.namespace) };
}
