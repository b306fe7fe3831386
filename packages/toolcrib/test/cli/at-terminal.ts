import { spawn, spawnSync } from 'node:child_process';
import { launcher } from './run-toolcrib.ts';

/** From util-linux: gives a program a terminal of its own. */
const giveTerminal = 'script';

export const hasTerminal = spawnSync(giveTerminal, ['--version']).stdout?.includes('util-linux') ?? false;

/** Everything the program shows at a terminal; `answer` is typed as soon as it asks `question`, and may depend on what was shown. */
export async function atTerminal(
  args: string[],
  url: string,
  {
    question,
    answer = '',
    env = {},
  }: { question?: string; answer?: string | ((shown: string) => Promise<string>); env?: Record<string, string> } = {},
): Promise<string> {
  const words = [process.execPath, launcher, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn(giveTerminal, ['-qec', words, '/dev/null'], {
    env: { PATH: process.env.PATH, TOOLCRIB_URL: url, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let shown = '';
  let isAnswered = false;
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    shown += chunk as string;
    if (question === undefined || isAnswered || !shown.includes(question)) continue;
    isAnswered = true;
    child.stdin.write(typeof answer === 'string' ? answer : await answer(shown));
  }
  child.stdin.destroy();
  return shown;
}
