import { CribError } from '../model/crib-error.ts';
import { sourceTypes } from './registry.ts';
import type { SourcePorts } from './source-ports.ts';
import type { SourceKind } from './source-type.ts';

/** The kinds of source on a running server. */
export interface SourceKinds {
  of(sourceType: string): SourceKind;
}

/** Opens the parts that the sources of each kind share. `opened` closes them again. */
export async function openKinds(ports: SourcePorts, opened: AsyncDisposableStack): Promise<SourceKinds> {
  const kinds = new Map<string, SourceKind>();
  for (const type of sourceTypes) kinds.set(type.name, await type.open(ports, opened));
  return {
    of(sourceType) {
      const kind = kinds.get(sourceType);
      if (kind === undefined) throw new CribError('INTERNAL', `This version of Toolcrib has no sources of type ${sourceType}`);
      return kind;
    },
  };
}
