import { invalid } from './invalid.ts';
import { checkNamespace, namespaceFromName } from './namespace.ts';
import type { RegistrationContext } from './registration-context.ts';

/** [SRC-10] [NAME-2] The name and the namespace of a source. */
export function readNaming(
  form: { name?: string | undefined; namespace?: string | undefined },
  { known }: Pick<RegistrationContext, 'known'>,
): { name: string; namespace: string } {
  const name = (form.name ?? '').trim();
  if (name === '') throw invalid('name', 'Name is required');
  // [NAME-3] An existing source keeps its namespace, even one that is no longer valid: a new namespace would rename all its tools.
  const namespace = form.namespace ?? known?.namespace;
  if (namespace === undefined) return { name, namespace: namespaceFromName(name) };
  return { name, namespace: namespace === known?.namespace ? namespace : checkNamespace(namespace) };
}
