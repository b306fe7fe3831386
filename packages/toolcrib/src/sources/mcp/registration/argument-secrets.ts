import { hasReference, looksLikeSecretValue, looksSecret } from '../../../secrets/secret-looks.ts';
import { variableNameFrom } from '../../registration/variable-name.ts';

/** Takes a secret and returns the name of the variable that holds it. */
export type PutAside = (variable: string, value: string) => string;

/**
 * [ENV-4] A command may contain secrets: `--api-key sk-…`, `-e TOKEN=…`, `--header "Authorization: …"`. Each is replaced with `${NAME}`, so
 * that the command can be stored and shown.
 */
export function takeArgumentSecrets(command: readonly string[], putAside: PutAside): string[] {
  return command.map((part, index) => {
    const before = command[index - 1] ?? '';
    if (index === 0 || hasReference(part) || part === '') return part;
    // `--api-key VALUE`
    if (/^--?[A-Za-z]/.test(before) && !before.includes('=') && looksSecret(before) && !part.startsWith('-')) {
      return `\${${putAside(`ARG_${variableNameFrom(before)}`, part)}}`;
    }
    // `docker run -e TOKEN=VALUE`: the container takes the variable from the environment of the docker command.
    const [, option = '', variable, secret] = /^(--env=|-e)?([A-Za-z_]\w{0,127})=([^]+)$/.exec(part) ?? [];
    if (variable !== undefined && secret !== undefined && (option !== '' || before === '-e' || before === '--env')) {
      if (!hasReference(secret) && (looksSecret(variable) || looksLikeSecretValue(secret))) {
        const kept = putAside(variable, secret);
        return kept === variable ? `${option}${variable}` : `${option}${variable}=\${${kept}}`;
      }
      return part;
    }
    // `--api-key=VALUE`, `TOKEN=VALUE`, `Authorization: VALUE`
    const [, name, separator, value] = /^(-{0,2}[A-Za-z][\w.-]{0,100})(=|:\s?)([^]+)$/.exec(part) ?? [];
    if (name !== undefined && separator !== undefined && value !== undefined && looksSecret(name) && !hasReference(value)) {
      return `${name}${separator}\${${putAside(`ARG_${variableNameFrom(name)}`, value)}}`;
    }
    return looksLikeSecretValue(part) ? `\${${putAside('ARG_SECRET', part)}}` : part;
  });
}
