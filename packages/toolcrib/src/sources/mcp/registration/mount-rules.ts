import { isAbsolute, resolve } from 'node:path';
import { invalid } from '../../registration/invalid.ts';
import { shorten } from './package-spec.ts';
import { isInside } from './plugin-path.ts';
import { realPlace } from './real-place.ts';

/** The directories that the operator allows containers to mount. `any` is for code that only reads a command, and starts nothing. */
export type AllowedMounts = readonly string[] | 'any';

export interface MountRules {
  field: string;
  allowedMounts: AllowedMounts;
}

const volumeName = /^[a-z0-9][\w.-]*$/i;

/** Sockets and directories of container engines. A container with access to them controls the whole machine. */
const engine = /\.sock(?:et)?(?:\/|$)|^\/(?:var\/)?run\/(?:docker|containerd|podman|crio|buildkit)|^\/run\/user\/\d+\/(?:docker|podman)/i;

/** Engine files that must not be mounted as part of a larger directory either. */
const engineFiles = '/run/docker.sock /var/run/docker.sock /run/containerd /run/podman /var/lib/docker /var/lib/containerd'.split(' ');

/** Files and directories that usually hold keys. */
const keys = /(?:^|[\\/])\.(?:ssh|aws|azure|kube|docker|gnupg|config|netrc|npmrc)(?:[\\/]|$)/i;

/**
 * [SEC-2] Refuses to mount anything that the operator has not allowed: a directory of the host must lie inside an allowed directory, with
 * symbolic links resolved. The name of a volume passes, since a volume holds nothing of this machine.
 */
export function checkMountSource(source: string, { field, allowedMounts }: MountRules): void {
  refuseReference(source, field);
  if (volumeName.test(source)) return;
  const refused = (why: string) => invalid(field, `Mounting ${shorten(source)} is refused: ${why}`);
  if (!isAbsolute(source) || source.includes('\0'))
    throw refused('give the absolute path of a directory of the host, or the name of a volume');
  const written = resolve(source);
  const path = realPlace(written);
  if ([written, path].some(reachesEngine)) throw refused('it gives the container access to this machine');
  if ([written, path].some((place) => keys.test(place))) throw refused('it usually holds keys');
  if (allowedMounts === 'any') return;
  const allowed = allowedMounts.map((directory) => realPlace(resolve(directory)));
  if (!allowed.some((directory) => path === directory || isInside(directory, path)))
    throw refused('the operator has not allowed it. The operator can allow a directory with `toolcrib serve --allow-mount DIR`');
}

/** `-v SOURCE:TARGET:OPTIONS`. One part alone is the target of a volume without a name. */
export function checkVolumeFlag(value: string, rules: MountRules): void {
  refuseReference(value, rules.field);
  const [source = '', target, options = '', ...more] = value.split(':');
  if (target === undefined) return;
  const harmless = new Set(['', 'ro', 'rw', 'z', 'Z', 'nocopy', 'cached', 'delegated', 'consistent']);
  if (more.length > 0 || options.split(',').some((option) => !harmless.has(option)))
    throw invalid(rules.field, `-v ${shorten(value)} is refused: write it as SOURCE:TARGET, or SOURCE:TARGET:ro`);
  checkMountSource(source, rules);
}

/** `--mount type=bind,source=…,target=…`. */
export function checkMountFlag(value: string, rules: MountRules): void {
  refuseReference(value, rules.field);
  const harmless = new Set(['type', 'source', 'src', 'target', 'destination', 'dst', 'readonly', 'ro', 'tmpfs-size', 'tmpfs-mode']);
  for (const part of value.split(',')) {
    const [name = '', ...rest] = part.split('=');
    const inside = rest.join('=');
    if (!harmless.has(name.toLowerCase()) || (/^type$/i.test(name) && !/^(?:bind|volume|tmpfs)$/i.test(inside)))
      throw invalid(rules.field, `--mount ${shorten(part)} is refused: it is not one of the settings known to be harmless`);
    if (/^(?:source|src)$/i.test(name)) checkMountSource(inside, rules);
  }
}

function reachesEngine(place: string): boolean {
  return engine.test(place) || engineFiles.some((file) => file === place || isInside(place, file) || isInside(file, place));
}

/** A value that is filled in later could be anything, even another mount. */
function refuseReference(value: string, field: string): void {
  if (value.includes('${'))
    throw invalid(field, `Mounting ${shorten(value)} is refused: a mount cannot contain \${…}. Write the path itself`);
}
