import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runSuite, type ScenarioResult } from './run-suite.ts';

const released = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const next = fileURLToPath(import.meta.resolve('conformance-next/dist/index.js'));

/** Checks of what we do not offer, or what the stateless revision does not have. They are skipped and count neither way. */
const notOffered = [
  'ClientDeclaresRootsCapability',
  'ClientDeclaresSamplingCapability',
  'ClientMcpMethodHeader_initialize',
  'ClientMcpMethodHeader_notifications_initialized',
  'ClientMcpMethodHeader_prompts_get',
  'ClientMcpMethodHeader_prompts_list',
  'ClientMcpNameHeader_prompts_get',
];

const runs = [
  { suite: '0.1.16', program: released, scenarios: ['--suite', 'all'], atOnce: 1, count: 26, checks: 297, skipped: [] },
  {
    suite: '0.2.0-alpha.12 for 2025-11-25',
    program: next,
    scenarios: ['--requirements', '2025-11-25'],
    atOnce: 2,
    count: 25,
    checks: 315,
    skipped: [],
  },
  {
    suite: '0.2.0-alpha.12 for 2026-07-28',
    program: next,
    scenarios: ['--requirements', '2026-07-28'],
    atOnce: 2,
    count: 39,
    checks: 478,
    skipped: notOffered,
  },
];

describe('the official conformance suite', () => {
  test.each(runs)('[MCP-1] [MCP-2] [MCP-12] $suite finds no fault with us', { timeout: 600_000 }, async (run) => {
    const results = await runSuite(run);
    const total = results.reduce((sum, { passed }) => sum + passed, 0);
    console.log(`${table(results)}\n${total} checks in ${results.length} scenarios`);
    expect(results.filter(({ problems }) => problems.length > 0)).toEqual([]);
    expect(results.flatMap(({ skipped }) => skipped).sort()).toEqual(run.skipped);
    expect(results).toHaveLength(run.count);
    expect(total).toBeGreaterThanOrEqual(run.checks);
  });
});

function table(results: readonly ScenarioResult[]): string {
  return results.map(({ scenario, passed, problems }) => [`${scenario}: ${passed} passed`, ...problems].join('\n  ')).join('\n');
}
