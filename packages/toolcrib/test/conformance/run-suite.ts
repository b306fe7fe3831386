import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { temporaryDirectory } from '../running-server.ts';
import { readChecks, type Findings } from './suite-checks.ts';
import { openTurnstile } from './turnstile.ts';

/** What became of one scenario. */
export interface ScenarioResult extends Findings {
  scenario: string;
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
  const [stdout, stderr] = await Promise.all(['stdout.txt', 'stderr.txt'].map((file) => readFile(join(directory, file), 'utf8')));
  const findings = await readChecks(join(directory, 'checks.json'));
  // The suite does not look at how its client ended.
  if (stdout !== 'played\n') findings.problems.push(`The driver did not come to its end:\n${stderr}`);
  return { scenario, ...findings };
}
