const secretWords = new Set(
  'TOKEN KEY KEYS APIKEY SECRET SECRETS PASSWORD PASSWD PASSPHRASE PASS PWD PAT CREDENTIAL CREDENTIALS'
    .concat(' AUTHORIZATION BEARER COOKIE')
    .split(' '),
);
const secretEnding = /(?:TOKEN|SECRET|PASSWORD|(?:API|ACCESS|AUTH|PRIVATE|SIGNING|ENCRYPTION)KEY)$/;

/** Whether a variable, header, flag or field of this name most likely holds a secret: `GITHUB_TOKEN`, `X-API-Key`, `clientSecret`. */
export function looksSecret(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((word) => word.replace(/\d+$/, ''));
  return words.some((word) => secretWords.has(word) || secretEnding.test(word));
}

/** Whether a value gives itself away: an address with a password in it, or a token with the prefix of a well-known service. */
export function looksLikeSecretValue(value: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/@]{0,500}:[^\s/@]{1,500}@/i.test(value) ||
    /^(?:ghp_|gho_|ghs_|github_pat_|glpat-|sk-|[sr]k_(?:live|test)_|xox[abp]-|AKIA|eyJ)[\w.-]{8,}/.test(value)
  );
}

/** `${NAME}`, but not `$${NAME}`, which stands for the characters themselves. */
const placeholder = /(?<!\$)\$\{([A-Za-z0-9_.-]{1,200})\}/g;

/**
 * Whether a value has `${NAME}` in it. Such a value is a template and stays as it is, to be stored, shown and filled in, whatever it is for:
 * a secret that was taken out would never be filled in.
 */
export function hasReference(value: string): boolean {
  return referencesIn(value).length > 0;
}

/** The names a value refers to, as in `${NAME}`. */
export function referencesIn(value: string): string[] {
  return [...value.matchAll(placeholder)].map(([, name = '']) => name);
}
