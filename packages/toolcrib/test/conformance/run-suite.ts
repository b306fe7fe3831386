import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { temporaryDirectory } from '../running-server.ts';
import { openTurnstile } from './turnstile.ts';

type CheckStatus = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

interface Check {
  name: string;
  status: CheckStatus;
  description: string;
  errorMessage?: string;
}

/** What became of one scenario. */
export interface ScenarioResult {
  scenario: string;
  passed: number;
  /** Failures and warnings, in words. */
  problems: string[];
  /** Names of the checks that did not apply. */
  skipped: string[];
}

/** The suite starts its clients from here, so that no blank in a path can come between. */
const folder = import.meta.dirname;
/** A client waits for its turn within this time too. */
const clientTimeoutMs = 600_000;

interface SuiteRun {
  program: string;
  scenarios: readonly string[];
  /** How many are played at a time. */
  atOnce: number;
}

/** Runs scenarios of one version of the suite against `driver.ts`, and reads what it found. */
export async function runSuite({ program, scenarios, atOnce }: SuiteRun): Promise<ScenarioResult[]> {
  await using directory = await temporaryDirectory();
  await using turnstile = await openTurnstile({ width: atOnce });
  const results = join(directory.path, 'results');
  const options = ['--timeout', String(clientTimeoutMs), '--output-dir', results];
  const child = spawn(process.execPath, [program, 'client', '--command', 'node driver.ts', ...scenarios, ...options], {
    cwd: folder,
    stdio: 'ignore',
    env: {
      PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
      HOME: process.env['HOME'],
      // A driver is started for every scenario; what the first has compiled serves them all.
      NODE_COMPILE_CACHE: join(directory.path, 'compiled'),
      ...turnstile.environment,
    },
  });
  await once(child, 'close');
  return await readResults(results);
}

/** One directory for every scenario, which is called like it and the time. */
async function readResults(directory: string): Promise<ScenarioResult[]> {
  const files = await readdir(directory, { recursive: true });
  const found = files.filter((file) => file.endsWith('checks.json')).map((file) => dirname(file));
  const results = found.map((name) => readResult(join(directory, name), name.replace(/-\d{4}-\d{2}-\d{2}T[\dZ-]+$/, '')));
  return (await Promise.all(results)).sort((one, other) => one.scenario.localeCompare(other.scenario));
}

async function readResult(directory: string, scenario: string): Promise<ScenarioResult> {
  const [json, stdout, stderr] = await Promise.all(
    ['checks.json', 'stdout.txt', 'stderr.txt'].map((file) => readFile(join(directory, file), 'utf8')),
  );
  const checks = JSON.parse(json ?? '') as Check[];
  const of = (...statuses: CheckStatus[]) => checks.filter(({ status }) => statuses.includes(status));
  const problems = of('FAILURE', 'WARNING').map(({ name, errorMessage, description }) => `${name}: ${errorMessage ?? description}`);
  // The suite counts a scenario without a check as passed, and does not look at how its client ended.
  if (of('SUCCESS').length === 0) problems.push('Nothing was checked');
  if (stdout !== 'played\n') problems.push(`The driver did not come to its end:\n${stderr}`);
  return { scenario, passed: of('SUCCESS').length, problems, skipped: of('SKIPPED').map(({ name }) => name) };
}
