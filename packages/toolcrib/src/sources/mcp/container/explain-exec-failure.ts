import { CribError } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { Json } from '../../../model/json.ts';

/** Why Docker did not start a program inside a container, from its messages, which differ between versions. */
export function explainExecFailure(words: string): CribError {
  const said = words.replaceAll(/\s+/g, ' ').trim().slice(0, 1000);
  const details = { docker: said };
  if (/"?\/bin\/sh"?: (?:stat \/bin\/sh: )?(?:no such file|executable file not found)/.test(said)) {
    return missingShell(details);
  }
  if (/unable to find (?:user|group)|no matching entries in (?:passwd|group) file/.test(said)) {
    return new CribError('NOT_FOUND', 'There is no such user in the container. Correct `user`, or remove it.', {
      field: 'mcp_container.user',
      details,
    });
  }
  if (/chdir to cwd|mkdir \S+: (?:read-only|permission)|working directory/i.test(said)) {
    return new CribError('NOT_FOUND', 'There is no such directory in the container. Correct `workdir`, or remove it.', {
      field: 'mcp_container.workdir',
      details,
    });
  }
  if (/is paused/i.test(said)) {
    return new EngineUnavailableError('The container is paused. Resume it with `docker unpause`.', { details });
  }
  if (/is not running|is restarting|container .* not found|No such container/i.test(said)) {
    return new CribError('SERVICE_UNAVAILABLE', `The container is not running: ${said}`, { details });
  }
  const why = said === '' ? 'it ended at once and said nothing' : said;
  return new CribError('SERVICE_UNAVAILABLE', `Nothing can be started in the container: ${why}`, { details });
}

/** Without a shell no process in a container can be ended again. */
export function missingShell(details?: Json): CribError {
  const advice = 'Register the image as a package instead (package_type docker), which gives every server a container of its own.';
  return new CribError('NOT_FOUND', `The container has no /bin/sh, which is needed to start and end servers in it. ${advice}`, {
    field: 'mcp_container.image',
    details,
  });
}
