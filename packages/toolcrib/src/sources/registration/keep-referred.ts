import type { NamedValue } from '../../model/source-definition.ts';
import { ownerOf } from '../../secrets/secret-name.ts';
import type { Draft } from './draft.ts';
import type { RegistrationContext } from './registration-context.ts';
import { referencesIn } from './secret-looks.ts';

/**
 * [ENV-4] A secret that was taken out of a command or an address is named there as `${NAME}`, and a registration that is read and sent back
 * says it so: the variable that holds it is kept. Options like docker's `-e NAME` name one too.
 */
export function keepReferred(draft: Draft, texts: readonly string[], { known, moved = false }: RegistrationContext): void {
  if (known === undefined || moved) return;
  const passed = texts.flatMap((text, index) => {
    const [, joined] = /^(?:--env=|-e)([A-Za-z_]\w*)$/.exec(text) ?? [];
    return joined ?? (/^(?:-e|--env)$/.test(texts[index - 1] ?? '') ? [text] : []);
  });
  const stored: Readonly<Record<string, NamedValue>> = known.definition.environment;
  for (const name of [...texts.flatMap(referencesIn), ...passed]) {
    const value = Object.hasOwn(stored, name) ? stored[name] : undefined;
    if (value === undefined || draft.environment.has(name)) continue;
    if ('secret_ref' in value && ownerOf(value.secret_ref) !== undefined) draft.environment.set(name, value);
  }
}
