/** [POL-1] For new tools that nobody may use: an entry of the configuration file that grants them. */
export function describeGrant(namespace: string): string {
  return [
    'No policy grants these tools, so nobody can use them yet. With this in toolcrib.yaml, `toolcrib apply` grants them to everybody',
    'whose token has the role toolcrib-user; use a claim of your own tokens there:',
    '',
    'groups:',
    `  ${namespace}-tools:`,
    `    selectors: [{ source: ${namespace} }]`,
    'policies:',
    `  use-${namespace}:`,
    '    matchers: [{ path: realm_access.roles, operator: contains, value: toolcrib-user }]',
    `    groups: [${namespace}-tools]`,
  ].join('\n');
}
