import { variableNameFrom } from './variable-name.ts';

/** `$NAME` in capital letters, where it is a word of its own: a dollar sign within a password is none. */
const bare = /(?<![\w$\\])\$([A-Z_][A-Z0-9_]*)(?![\w{])/g;

/**
 * Editors have placeholders of their own. `$NAME`, `${env:NAME}` and `${input:name}` become ours; one that only an editor can fill in, such as
 * `${workspaceFolder}`, throws.
 */
export function fromEditorVariables(text: string): string {
  return text.replaceAll(bare, '${$1}').replaceAll(/\$\{([^{}]*)\}/g, (whole, inner: string) => {
    const [, kind, name] = /^(env|input|secret):([^:]+)$/.exec(inner) ?? [];
    if (kind !== undefined && name !== undefined) return `\${${kind === 'env' ? name : variableNameFrom(name)}}`;
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(inner) && !/^(?:workspaceFolder\w*|userHome|pathSeparator|cwd|file\w*)$/.test(inner)) return whole;
    throw new Error(`${whole} is known to an editor only: write the value itself, or \${NAME}`);
  });
}
