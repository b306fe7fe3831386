import type { RunRules } from '../model/run-rules.ts';
import type { Given } from './given.ts';

interface GivenByFiles<Name extends string> {
  /** With the settings of the configuration file, where neither an option nor a variable is given. */
  given: Given<Name>;
  runRules?: RunRules;
}

/** The settings of a server that come from files. Their readers are loaded only if there is a file. */
export async function givenByFiles<Name extends string>(
  asked: Given<Name | 'config' | 'run-rules'>,
): Promise<GivenByFiles<Name | 'config' | 'run-rules'>> {
  const given = asked.text('config') === undefined ? asked : await (await import('./read-config-file.ts')).withConfigFile(asked);
  const rules = given.text('run-rules');
  return rules === undefined ? { given } : { given, runRules: await (await import('./run-rules-file.ts')).readRunRules(rules) };
}
