import type { Json } from '../../../model/json.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import { hiddenValue } from '../../../secrets/secret.ts';
import { maskAddress } from '../../registration/mask-address.ts';
import { looksSecret } from '../../../secrets/secret-looks.ts';
import { isSecretText, showValues, type Shown } from '../../registration/show-values.ts';

export interface ShownDefinition extends Shown<McpDefinition> {
  is_remote: boolean;
}

/** [ENV-4] A definition as the API shows it: secrets as `***`. */
export function showDefinition(definition: McpDefinition): ShownDefinition {
  const secretNames = new Set(definition.env_definitions.filter(({ secret }) => secret).map(({ name }) => name));
  return {
    ...showValues(definition),
    url: definition.url === null ? null : maskAddress(definition.url),
    is_remote: definition.server_url !== null,
    config: redactConfig(definition.config, { secret: false, secretNames }),
  };
}

/** Nothing says which parts of a configuration are secret, so names and values are judged by their looks. */
function redactConfig(value: Json, { secret, secretNames }: { secret: boolean; secretNames: ReadonlySet<string> }): Json {
  if (typeof value === 'string') return isSecretText(value, secret) ? hiddenValue : value;
  if (typeof value === 'number') return secret ? hiddenValue : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactConfig(item, { secret, secretNames }));
  const inner = Object.entries(value).map(([name, item]) => {
    const isSecret = secret || secretNames.has(name) || looksSecret(name);
    return [name, redactConfig(item, { secret: isSecret, secretNames })];
  });
  return Object.fromEntries(inner) as Json;
}
