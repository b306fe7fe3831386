import { containerSettingsSchema, type Container } from '../../../model/container.ts';
import type { ContainerForm } from './container-form.ts';
import { invalid } from '../../registration/invalid.ts';
import { checkMountSource, type AllowedMounts } from './mount-rules.ts';

/** Settings of a container that we create, and the user and directory its program runs with. */
export interface MadeContainer extends Pick<Container, 'workdir' | 'user' | 'settings'> {
  /** The settings that were given explicitly, by the matching option of `docker run`. */
  said: ReadonlySet<string>;
}

/** The container that we create by default. */
export const usualContainer: MadeContainer = {
  workdir: null,
  user: null,
  settings: containerSettingsSchema.parse({}),
  said: new Set(),
};

/** [SRC-3] The container settings of a registration, with safe defaults for the rest. */
export function containerSettings(form: ContainerForm, allowedMounts: AllowedMounts): MadeContainer {
  const { limits, network, read_only, tmpfs, mounts = [], pull } = form;
  if (network === 'host')
    throw invalid('mcp_container.network', "The host's network is refused: use none, bridge, or a network created for the container");
  for (const [index, { source, target }] of mounts.entries()) {
    const field = `mcp_container.mounts.${index}`;
    // Source and target become one argument of docker run, whose parts are separated by commas.
    if (/[,"\r\n]/.test(source + target)) throw invalid(field, 'A mounted path cannot contain a comma, a quotation mark or a line break');
    if (/^\/+$/.test(target)) throw invalid(`${field}.target`, 'A mount cannot replace the root of the container. Name a directory');
    checkMountSource(source, { field: `${field}.source`, allowedMounts });
  }
  const settings = containerSettingsSchema.parse({ limits, network, read_only, tmpfs, mounts, pull });
  const targets = new Set(mounts.map(({ target }) => target));
  // A directory cannot be both a tmpfs and a mount. A requested mount wins over the default tmpfs.
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
