import type { ShownPreview } from './source-client.ts';

/** Which required values are missing, and how each is given on the command line. */
export function describeMissing({ missing, definition }: Pick<ShownPreview, 'missing' | 'definition'>): string {
  const secret = new Set(definition.env_definitions.flatMap(({ name, secret }) => (secret ? [name] : [])));
  const ways = missing.map((field) => {
    const [place = '', ...rest] = field.split('.');
    const name = rest.at(-1) ?? field;
    if (place === 'headers') return `${name} (--header '${name}: …')`;
    if (/^(?:mcp_)?config$/.test(place)) return `${name} (--setting ${name}=…)`;
    // Nothing on the command line fills these.
    if (!/env_vars/.test(field)) return `${name} (${field} of a registration over REST)`;
    return secret.has(name) ? `${name} (--secret ${name})` : `${name} (--env ${name}=…)`;
  });
  return `These required values are missing: ${ways.join(', ')}`;
}
