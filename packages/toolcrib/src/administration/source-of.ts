import type { DefinedSource } from '../model/source.ts';
import type { NormalisedSource } from '../sources/registration/normalised-registration.ts';

/** The source that a registration makes. */
export function sourceOf(
  { name, namespace, enabled, ...typed }: NormalisedSource,
  stored: Pick<DefinedSource, 'id' | 'registration' | 'managed_by' | 'created_at' | 'updated_at'>,
): DefinedSource {
  const common = { ...stored, name, namespace, enabled };
  switch (typed.source_type) {
    case 'mcp':
      return { ...common, source_type: typed.source_type, definition: typed.definition };
    case 'openapi':
      return { ...common, source_type: typed.source_type, definition: typed.definition };
    case 'workflow':
      return { ...common, source_type: typed.source_type, definition: typed.definition };
  }
}
