import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { part } from '../parts.ts';
import { startTestServer } from '../running-server.ts';

const promtool = part('promtool');
const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..', '..');
const read = (path: string) => readFile(join(root, path), 'utf8');

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
}
interface Panel {
  type: string;
  title: string;
  targets?: { expr: string }[];
}

const rules = (parse(await read('ops/prometheus/alerts.yaml')) as Rules).groups.flatMap(({ rules: own }) => own);
const dashboard = JSON.parse(await read('ops/grafana/toolcrib.json')) as { panels: Panel[] };
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

/** Metrics that exist only with a configuration file. */
const onlyWhereUsed = new Set(['toolcrib_config_last_reload_success']);

/** Without the endings that a histogram adds. */
const namesIn = (expression: string) => [...expression.matchAll(/toolcrib_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''));

async function metricsOfServer(): Promise<string> {
  await using server = await startTestServer();
  await (await server.as('alice')).call('builtin:uuid');
  return (await server.client().get('/metrics')).text;
}

test('[OPS-1] every alert and panel uses metrics that a server has', async () => {
  const text = await metricsOfServer();
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
  const used = [...rules.map(({ expr }) => expr), ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))].flatMap(
    namesIn,
  );
  expect(used.length).toBeGreaterThan(40);
  expect([...new Set(used)].filter((name) => !known.has(name) && !onlyWhereUsed.has(name))).toEqual([]);
});

test('[OPS-1] every panel asks a question, and every alert says what to do and is documented', async () => {
  expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
  expect(rules.filter(({ annotations }) => !annotations['summary'] || !annotations['action'])).toEqual([]);
  const page = await read('docs/observability.md');
  expect(rules.filter(({ alert }) => !page.includes(`\`${alert}\``)).map(({ alert }) => alert)).toEqual([]);
});

test('[OPS-1] every metric of ours is documented', async () => {
  const page = await read('docs/observability.md');
  const names = [...(await metricsOfServer()).matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name);
  const own = names.filter((name) => !/^toolcrib_(process|nodejs)_/.test(name));
  expect(own.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test('[OPS-1] every alert has a test', async () => {
  const tests = await read('ops/prometheus/alerts.test.yaml');
  expect(rules.filter(({ alert }) => !tests.includes(alert)).map(({ alert }) => alert)).toEqual([]);
});

describe.skipIf(!promtool.available)('promtool', () => {
  const command = promtool.available ? promtool.url : '';
  const folder = join(root, 'ops', 'prometheus');

  test('[OPS-1] finds nothing wrong with the rules', async () => {
    expect((await run(command, ['check', 'rules', 'alerts.yaml'], { cwd: folder })).stdout).toContain(`${rules.length} rules found`);
  });

  test('[OPS-1] sees every alert fire where it should, and none when all is well', async () => {
    expect((await run(command, ['test', 'rules', 'alerts.test.yaml'], { cwd: folder })).stdout).toContain('SUCCESS');
  });

  test('[OPS-1] can read the metrics of a server', async () => {
    const checking = run(command, ['check', 'metrics']);
    checking.child.stdin?.end(await metricsOfServer());
    // It finds fault with names that Node's own metrics have in every program; a text it cannot read is an error.
    const { stdout, stderr } = await checking.catch((error: { code?: number; stdout: string; stderr: string }) => error);
    const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !line.startsWith('toolcrib_nodejs_'));
    expect(complaints).toEqual([]);
  });
});
