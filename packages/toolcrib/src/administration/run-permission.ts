import type { ClaimsByIssuer } from '../identity/claims-by-issuer.ts';
import { CribError } from '../model/crib-error.ts';
import { ownIssuer, type Principal } from '../model/principal.ts';
import { compileClaimCheck } from '../policy/claim-check.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';

/** [SEC-2] Who may say what is run on this machine, and which of its files are read. */
export interface RunPermission {
  isHeldBy(actor: Principal): boolean;
  /** Refuses an actor who may not. `form` is what they have asked for. */
  require(actor: Principal, form: SourceForm): void;
}

/** Without claims every administrator has it, as in development, where whoever asks is one. */
export function createRunPermission(claims: ClaimsByIssuer | undefined): RunPermission {
  const holds = claims && compileClaimCheck(claims);
  const isHeldBy = (actor: Principal) => holds === undefined || actor.issuer === ownIssuer || holds(actor);
  return {
    isHeldBy,
    require(actor, form) {
      if (isHeldBy(actor)) return;
      throw new CribError(
        'FORBIDDEN',
        `This ${form.source_type === 'mcp' ? 'starts a program' : 'reads a file'} on the machine of the server, which needs the permission to run commands: ${missing(claims, actor.issuer)}`,
        { field: fieldOf(form) },
      );
    },
  };
}

function missing(claims: ClaimsByIssuer | undefined, issuer: string): string {
  const matcher = claims?.get(issuer);
  if (matcher === undefined) return `no token of ${issuer} gives it`;
  const path = [matcher.path].flat().join('.');
  return `your token lacks ${'value' in matcher ? `${JSON.stringify(matcher.value)} in its claim ${path}` : `the claim ${path}`}`;
}

/** What in the form says that something is to be started or read. */
function fieldOf(form: SourceForm): string {
  if (form.source_type !== 'mcp') return `${form.source_type}.file`;
  const saying = ['mcp_command', 'mcp_plugin_dir', 'mcp', 'package', 'mcp_container'] as const;
  return saying.find((field) => (form[field] ?? null) !== null) ?? 'mcp_command';
}
