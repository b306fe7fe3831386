/** A variable's name made from a flag, a query parameter or a slot: `--api-key` gives `API_KEY`. */
export function variableNameFrom(label: string): string {
  const name = label
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .slice(0, 100);
  return /^[A-Z]/.test(name) ? name : `SECRET_${name}`.replace(/_$/, '');
}
