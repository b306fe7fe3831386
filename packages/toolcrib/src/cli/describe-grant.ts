/** [POL-1] For somebody whose new tools nobody may use: what a configuration file says to grant them. */
export function describeGrant(namespace: string): string {
  return [
    'No policy grants these tools, so nobody can use them yet. With this in toolcrib.yaml, `toolcrib apply` lets everybody use them',
    'whose token has the role toolcrib-user; put a claim of your own tokens there:',
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
