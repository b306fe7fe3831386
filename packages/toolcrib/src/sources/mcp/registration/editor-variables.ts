import { variableNameFrom } from '../../registration/variable-name.ts';

/** `$NAME` in capital letters as a separate word, so that a dollar sign inside a password does not match. */
const bare = /(?<![\w$\\])\$([A-Z_][A-Z0-9_]*)(?![\w{])/g;

/**
 * Converts the placeholders of editors, `$NAME`, `${env:NAME}` and `${input:name}`, to `${NAME}`. Throws for a placeholder that only an
 * editor can fill in, such as `${workspaceFolder}`.
 */
export function fromEditorVariables(text: string): string {
  return text.replaceAll(bare, '${$1}').replaceAll(/\$\{([^{}]*)\}/g, (whole, inner: string) => {
    const [, kind, name] = /^(env|input|secret):([^:]+)$/.exec(inner) ?? [];
    if (kind !== undefined && name !== undefined) return `\${${kind === 'env' ? name : variableNameFrom(name)}}`;
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(inner) && !/^(?:workspaceFolder\w*|userHome|pathSeparator|cwd|file\w*)$/.test(inner)) return whole;
    throw new Error(`Only an editor can fill in ${whole}: write the value itself, or \${NAME}`);
  });
}
