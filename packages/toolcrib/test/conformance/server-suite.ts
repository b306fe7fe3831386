import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { temporaryDirectory } from '../running-server.ts';
import { startHeaderProxy } from './header-proxy.ts';
import { readChecks, type Findings } from './suite-checks.ts';

/** The released suite with all its scenarios, or the next one with what a revision requires, and some more that it does not. */
export type ServerSuite = '0.1.16' | '2025-11-25' | '2026-07-28';

export interface ServerScenario extends Findings {
  scenario: string;
  /** Whether a server has to pass it: both suites also have scenarios that they do not require, such as those that are pending. */
  required: boolean;
}

const released = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const next = fileURLToPath(import.meta.resolve('conformance-next/dist/index.js'));
const timers = import.meta.resolve('./patient-timers.ts');
/** For one scenario, on a busy machine. */
const scenarioTimeoutMs = 300_000;

interface ServerSuiteRun {
  suite: ServerSuite;
  /** The server's address, on the loopback interface: one scenario insists on it. */
  url: string;
  /** What every request has to carry, such as `authorization`. */
  headers?: Record<string, string>;
}

/** Runs a suite against a server. Returns every scenario that it ran, in its order, including those that came to no end. */
export async function runServerSuite({ suite, url, headers = {} }: ServerSuiteRun): Promise<ServerScenario[]> {
  await using directory = await temporaryDirectory();
  await using proxy = await startHeaderProxy({ target: url, headers });
  const results = join(directory.path, 'results');
  const scenarios = suite === '0.1.16' ? ['--suite', 'all'] : ['--requirements', suite, '--timeout', String(scenarioTimeoutMs)];
  const program = suite === '0.1.16' ? released : next;
  const args = ['--import', timers, program, 'server', '--url', proxy.url, ...scenarios, '--output-dir', results];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const ran = scenariosIn(said);
  if (ran.length === 0) throw new Error(`The suite ran nothing: ${said}${complained}`);
  const required = await requiredBy(suite, ran, join(directory.path, 'pending'));
  const found = await readdir(results);
  return await Promise.all(
    ran.map(async (scenario) => {
      const findings = await findingsOf(results, found, scenario);
      return Object.assign(findings, { scenario, required: required.has(scenario) });
    }),
  );
}

/** What the released suite leaves out by default because it is pending, in its own words: there is no list, so it is run without a server. */
async function pendingScenarios(results: string): Promise<string[]> {
  const args = [released, 'server', '--suite', 'pending', '--url', 'http://127.0.0.1:9/mcp', '--output-dir', results];
  const said = await text(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout);
  const pending = scenariosIn(said);
  if (pending.length === 0) throw new Error(`The suite does not say what is pending: ${said}`);
  return pending;
}

function scenariosIn(said: string): string[] {
  return [...said.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, scenario = '']) => scenario);
}

async function requiredBy(suite: ServerSuite, ran: readonly string[], results: string): Promise<Set<string>> {
  if (suite === '0.1.16') {
    const pending = await pendingScenarios(results);
    return new Set(ran.filter((scenario) => !pending.includes(scenario)));
  }
  const file = fileURLToPath(import.meta.resolve(`conformance-next/requirements/${suite}.yaml`));
  const { server } = parse(await readFile(file, 'utf8')) as { server: string[] };
  const missing = server.filter((scenario) => !ran.includes(scenario));
  if (missing.length > 0) throw new Error(`The suite left out ${missing.join(', ')}`);
  return new Set(server);
}

/** Every scenario has a folder that is called like it and the time, with its checks unless the suite could not go on. */
async function findingsOf(results: string, folders: readonly string[], scenario: string): Promise<Findings> {
  const folder = folders.find((name) => name.replace(/-\d{4}-\d{2}-\d{2}T[\dZ-]+$/, '') === `server-${scenario}`) ?? '';
  return await readChecks(join(results, folder, 'checks.json')).catch((error: unknown) => ({
    passed: 0,
    problems: [`It came to no end: ${String(error)}`],
    skipped: [],
  }));
}
