import { CribError } from '../../../model/crib-error.ts';
import type { RunRules } from '../../../model/run-rules.ts';
import { isRiskyVariable } from '../../upstream/variable-names.ts';
import { matchesGlob } from './glob.ts';
import { notAllowed } from './not-allowed.ts';

/**
 * [SEC-2] [ENV-6] Refuses a variable that the operator's rules do not name. A variable that decides which code is run must be named in full:
 * patterns do not match it.
 */
export function judgeVariables(names: Iterable<string>, { variables }: Pick<RunRules, 'variables'>): void {
  for (const name of names) {
    if (variables.includes(name)) continue;
    const risky = isRiskyVariable(name);
    if (!risky && variables.some((glob) => matchesGlob(glob, name))) continue;
    const what = `the variable ${name}${risky ? ', which decides which code is run or trusted and has to be named in full' : ''}`;
    const { message } = notAllowed(what, variables);
    throw new CribError('FORBIDDEN', `${message}. To allow it, add ${name} to \`variables\` in the file of run rules`, {
      field: `environment.${name}`,
    });
  }
}
