/** One requirement of the specification. Once its area has been built, some test must say that it verifies it. */
export interface Requirement {
  id: string;
  area: string;
  built: boolean;
}

const areas: { area: string; built: string[]; planned: string[] }[] = [
  { area: 'names', built: ids('NAME', 4), planned: [] },
  { area: 'registration', built: ids('SRC', 10), planned: [] },
  { area: 'environment', built: ids('ENV', 6), planned: [] },
  { area: 'mcp', built: ids('MCP', 13), planned: [] },
  {
    area: 'lifecycle',
    built: [...ids('LIFE', 8), ...ids('MC-T', 9), ...ids('MC-NT', 4), ...ids('ERR', 10)],
    planned: [],
  },
  { area: 'inventory', built: ids('INV', 6), planned: [] },
  { area: 'execution', built: ids('EXEC', 10), planned: [] },
  { area: 'rest', built: ids('BFF', 8), planned: [] },
  { area: 'identity', built: ids('ID', 6), planned: [] },
  { area: 'policy', built: ids('POL', 5), planned: [] },
  { area: 'security', built: ids('SEC', 4), planned: [] },
  { area: 'openapi', built: [...ids('OAS', 5), ...ids('HTTP', 2), ...ids('POLL', 2)], planned: [] },
  { area: 'builtin', built: ids('BI', 2), planned: [] },
  { area: 'workflow', built: ids('WF', 2), planned: [] },
  { area: 'finding', built: ['FIND-1'], planned: [] },
  { area: 'clients', built: ['CLI-1', 'LC-1', 'HOST-1', 'UTCP-1'], planned: ['UI-1'] },
  { area: 'operations', built: ['OPS-1', 'OPS-2'], planned: ['OPS-3'] },
];

export const requirements: readonly Requirement[] = areas.flatMap(({ area, built, planned }) =>
  built.concat(planned).map((id) => ({ id, area, built: built.includes(id) })),
);

/** `NAME-1` and on, or `MC-T1` and on where the prefix has its hyphen already. */
function ids(prefix: string, count: number): string[] {
  const separator = prefix.includes('-') ? '' : '-';
  return Array.from({ length: count }, (_, index) => `${prefix}${separator}${index + 1}`);
}
