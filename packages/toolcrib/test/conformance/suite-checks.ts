import { readFile } from 'node:fs/promises';

type CheckStatus = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

interface Check {
  name: string;
  status: CheckStatus;
  description: string;
  errorMessage?: string;
}

/** What a suite has found out in one scenario. */
export interface Findings {
  passed: number;
  /** Failures and warnings, in words. */
  problems: string[];
  /** Names of the checks that did not apply. */
  skipped: string[];
}

/** Reads the checks that a suite has written down. One that checked nothing has a problem too: the suite counts it as passed. */
export async function readChecks(file: string): Promise<Findings> {
  const checks = JSON.parse(await readFile(file, 'utf8')) as Check[];
  const of = (...statuses: CheckStatus[]) => checks.filter(({ status }) => statuses.includes(status));
  const problems = of('FAILURE', 'WARNING').map(({ name, errorMessage, description }) => `${name}: ${errorMessage ?? description}`);
  const passed = of('SUCCESS').length;
  if (passed === 0) problems.push('Nothing was checked');
  return { passed, problems, skipped: of('SKIPPED').map(({ name }) => name) };
}
