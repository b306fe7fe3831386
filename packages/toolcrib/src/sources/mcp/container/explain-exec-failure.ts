import { CribError } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { Json } from '../../../model/json.ts';

/** Why Docker did not start a program inside a container, from its own words, which differ between its versions. */
export function explainExecFailure(words: string): CribError {
  const said = words.replaceAll(/\s+/g, ' ').trim().slice(0, 1000);
  const details = { docker: said };
  if (/"?\/bin\/sh"?: (?:stat \/bin\/sh: )?(?:no such file|executable file not found)/.test(said)) {
    return missingShell(details);
  }
  if (/unable to find (?:user|group)|no matching entries in (?:passwd|group) file/.test(said)) {
    return new CribError('NOT_FOUND', 'There is no such user in the container. Correct `user`, or take it out.', {
      field: 'mcp_container.user',
      details,
    });
  }
  if (/chdir to cwd|mkdir \S+: (?:read-only|permission)|working directory/i.test(said)) {
    return new CribError('NOT_FOUND', 'There is no such directory in the container. Correct `workdir`, or take it out.', {
      field: 'mcp_container.workdir',
      details,
    });
  }
  if (/is paused/i.test(said)) {
    return new EngineUnavailableError('The container is paused. Let it go on with `docker unpause`.', { details });
  }
  if (/is not running|is restarting|container .* not found|No such container/i.test(said)) {
    return new CribError('SERVICE_UNAVAILABLE', `The container is not running: ${said}`, { details });
  }
  const why = said === '' ? 'it ended at once and said nothing' : said;
  return new CribError('SERVICE_UNAVAILABLE', `Nothing can be started in the container: ${why}`, { details });
}

/** Without a shell nothing in a container could be ended again. */
export function missingShell(details?: Json): CribError {
  const advice = 'Register the image as a package instead (package_type docker), which gives every server a container of its own.';
  return new CribError('NOT_FOUND', `The container has no /bin/sh, with which servers are started and ended there. ${advice}`, {
    field: 'mcp_container.image',
    details,
  });
}
