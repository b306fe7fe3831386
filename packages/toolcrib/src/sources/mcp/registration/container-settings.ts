import { containerSettingsSchema, type Container } from '../../../model/container.ts';
import type { ContainerForm } from './container-form.ts';
import { invalid } from '../../registration/invalid.ts';
import { checkMountSource, type AllowedMounts } from './mount-rules.ts';

/** How a container that we make is made, and as whom and where its program runs. */
export interface MadeContainer extends Pick<Container, 'workdir' | 'user' | 'settings'> {
  /** What was said outright, by the option of `docker run` that means the same. */
  said: ReadonlySet<string>;
}

/** A container as we make it where nothing is said. */
export const usualContainer: MadeContainer = {
  workdir: null,
  user: null,
  settings: containerSettingsSchema.parse({}),
  said: new Set(),
};

/** [SRC-3] What a registration says of a container that we make, with the safe choice for what it does not say. */
export function containerSettings(form: ContainerForm, allowedMounts: AllowedMounts): MadeContainer {
  const { limits, network, read_only, tmpfs, mounts = [], pull } = form;
  if (network === 'host')
    throw invalid('mcp_container.network', 'The network of the host is refused: use none, bridge, or a network made for it');
  for (const [index, { source, target }] of mounts.entries()) {
    const field = `mcp_container.mounts.${index}`;
    // Both become one argument of docker run, whose parts are divided by commas.
    if (/[,"\r\n]/.test(source + target)) throw invalid(field, 'A mounted path cannot contain a comma, a quotation mark or a line break');
    if (/^\/+$/.test(target)) throw invalid(`${field}.target`, 'Nothing can be mounted in place of the whole container. Name a directory');
    checkMountSource(source, { field: `${field}.source`, allowedMounts });
  }
  const settings = containerSettingsSchema.parse({ limits, network, read_only, tmpfs, mounts, pull });
  const targets = new Set(mounts.map(({ target }) => target));
  // A directory can be only one of the two, and a mount has been asked for.
  if (tmpfs === undefined) settings.tmpfs = settings.tmpfs.filter((path) => !targets.has(path));
  const said = {
    '--memory': limits?.memory_mb,
    '--cpus': limits?.cpus,
    '--pids-limit': limits?.pids,
    '--network': network,
    '--read-only': read_only,
    '--pull': pull,
    '--user': form.user,
    '--workdir': form.workdir,
  };
  return {
    workdir: form.workdir ?? null,
    user: form.user ?? null,
    settings,
    said: new Set(Object.entries(said).flatMap(([option, value]) => (value === undefined ? [] : [option]))),
  };
}
