import { CribError } from '../model/crib-error.ts';
import type { Matcher } from '../model/policy.ts';
import { ownIssuer, type Principal } from '../model/principal.ts';
import { compileMatcher } from '../policy/matcher.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';

/** [SEC-2] Who may say what is run on this machine, and which of its files are read. */
export interface RunPermission {
  isHeldBy(actor: Principal): boolean;
  /** Refuses an actor who may not. `form` is what they have asked for. */
  require(actor: Principal, form: SourceForm): void;
}

/** Without a matcher every administrator has it, as in development, where whoever asks is one. */
export function createRunPermission(matcher: Matcher | undefined): RunPermission {
  const compiled = matcher === undefined ? undefined : compileMatcher(matcher);
  const isHeldBy = (actor: Principal) => compiled === undefined || actor.issuer === ownIssuer || compiled.holds(actor.claims);
  return {
    isHeldBy,
    require(actor, form) {
      if (matcher === undefined || isHeldBy(actor)) return;
      const path = [matcher.path].flat().join('.');
      const claim = 'value' in matcher ? `${JSON.stringify(matcher.value)} in its claim ${path}` : `the claim ${path}`;
      throw new CribError(
        'FORBIDDEN',
        `This ${form.source_type === 'mcp' ? 'starts a program' : 'reads a file'} on the machine of the server, which needs the permission to run commands: your token lacks ${claim}`,
        { field: fieldOf(form) },
      );
    },
  };
}

/** What in the form says that something is to be started or read. */
function fieldOf(form: SourceForm): string {
  if (form.source_type !== 'mcp') return `${form.source_type}.file`;
  const saying = ['mcp_command', 'mcp_plugin_dir', 'mcp', 'mcp_container'] as const;
  return saying.find((field) => form[field] !== undefined) ?? 'mcp_command';
}
