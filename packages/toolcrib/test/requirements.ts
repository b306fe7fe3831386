/** One requirement of the specification. Once its area has been built, some test must say that it verifies it. */
export interface Requirement {
  id: string;
  area: string;
  built: boolean;
}

const areas: { area: string; built: string[]; planned: string[] }[] = [
  { area: 'names', built: ids('NAME', 4), planned: [] },
  { area: 'registration', built: [], planned: ids('SRC', 10) },
  { area: 'environment', built: [], planned: ids('ENV', 6) },
  { area: 'mcp', built: ['MCP-1', 'MCP-5'], planned: ids('MCP', 13).filter((id) => id !== 'MCP-1' && id !== 'MCP-5') },
  { area: 'lifecycle', built: [], planned: [...ids('LIFE', 8), ...ids('MC-T', 9), ...ids('MC-NT', 4), ...ids('ERR', 10)] },
  { area: 'inventory', built: ['INV-1', 'INV-4', 'INV-6'], planned: ['INV-2', 'INV-3', 'INV-5'] },
  {
    area: 'execution',
    built: ['EXEC-1', 'EXEC-2', 'EXEC-3', 'EXEC-4', 'EXEC-6', 'EXEC-9', 'EXEC-10'],
    planned: ['EXEC-5', 'EXEC-7', 'EXEC-8'],
  },
  { area: 'rest', built: ids('BFF', 8), planned: [] },
  { area: 'identity', built: ['ID-1', 'ID-6'], planned: ['ID-2', 'ID-3', 'ID-4', 'ID-5'] },
  { area: 'policy', built: ids('POL', 5), planned: [] },
  { area: 'security', built: [], planned: ids('SEC', 4) },
  { area: 'openapi', built: [], planned: [...ids('OAS', 5), ...ids('HTTP', 2), ...ids('POLL', 2)] },
  { area: 'builtin', built: ids('BI', 2), planned: [] },
  { area: 'workflow', built: [], planned: ids('WF', 2) },
  { area: 'clients', built: ['CLI-1'], planned: ['UTCP-1', 'LC-1', 'HOST-1', 'UI-1'] },
  { area: 'operations', built: ['OPS-2'], planned: ['OPS-1', 'OPS-3'] },
];

export const requirements: readonly Requirement[] = areas.flatMap(({ area, built, planned }) =>
  built.concat(planned).map((id) => ({ id, area, built: built.includes(id) })),
);

/** `NAME-1` and on, or `MC-T1` and on where the prefix has its hyphen already. */
function ids(prefix: string, count: number): string[] {
  const separator = prefix.includes('-') ? '' : '-';
  return Array.from({ length: count }, (_, index) => `${prefix}${separator}${index + 1}`);
}
