import type { RunRules } from '../model/run-rules.ts';
import type { Given } from './given.ts';

interface GivenByFiles<Name extends string> {
  /** With what the configuration file says where neither an option nor a variable does. */
  given: Given<Name>;
  runRules?: RunRules;
}

/** What a server is told in files. What reads them is loaded only where there is one. */
export async function givenByFiles<Name extends string>(
  asked: Given<Name | 'config' | 'run-rules'>,
): Promise<GivenByFiles<Name | 'config' | 'run-rules'>> {
  const given = asked.text('config') === undefined ? asked : await (await import('./read-config-file.ts')).withConfigFile(asked);
  const rules = given.text('run-rules');
  return rules === undefined ? { given } : { given, runRules: await (await import('./run-rules-file.ts')).readRunRules(rules) };
}
