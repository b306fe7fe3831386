import type { DefinedSource, DocumentSource } from '../../model/source.ts';
import { showDefinition, type ShownDefinition } from '../mcp/registration/show-definition.ts';
import { maskAddress } from './mask-address.ts';
import { showValues, type Shown } from './show-values.ts';

type ShownSourceDefinition = ShownDefinition | Shown<DocumentSource['definition']>;

/** [ENV-4] The definition of a source of any type as the API shows it: secrets as `***`. */
export function showSource(source: Pick<DefinedSource, 'source_type' | 'definition'>): ShownSourceDefinition {
  const { definition } = source;
  if (!('document' in definition)) return showDefinition(definition);
  const { document } = definition;
  return { ...showValues(definition), document: 'url' in document ? { url: maskAddress(document.url) } : document };
}
