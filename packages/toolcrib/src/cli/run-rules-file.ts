import { explainIssue } from '../administration/configuration/explain-issue.ts';
import { readConfigText } from '../administration/configuration/read-config-text.ts';
import { readYaml } from '../administration/configuration/read-yaml.ts';
import { runRulesSchema, type RunRules } from '../model/run-rules.ts';
import { UsageError } from '../model/usage-error.ts';

/** [SEC-2] The operator's rules. An error names its line, and a file with an error allows nothing. */
export async function readRunRules(file: string): Promise<RunRules> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new UsageError(`The run rules in ${file} cannot be used: ${why}`, { field: 'run-rules', cause });
  };
  const refuseAt = (place: string, message: string) => refuse(`line ${place.split(':')[0]}: ${message}`);
  const text = await readConfigText(file, 'file').catch((error: Error) => refuse(error.message, error));
  const { value, placeOf } = readYaml(text, refuseAt);
  const parsed = runRulesSchema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  const { path, message } = explainIssue(parsed.error);
  return refuseAt(placeOf(path), path.length === 0 ? message : `${path.join('.')}: ${message}`);
}
