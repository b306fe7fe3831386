import type { NamedValue } from '../../model/source-definition.ts';
import { ownerOf } from '../../secrets/secret-name.ts';
import type { Draft } from './draft.ts';
import type { RegistrationContext } from './registration-context.ts';
import { referencesIn } from '../../secrets/secret-looks.ts';

/**
 * [ENV-4] A secret in a command or an address is replaced by `${NAME}`. A registration that is read and sent back contains that reference,
 * so the variable with the secret is kept. Options such as docker's `-e NAME` refer to a variable too.
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
