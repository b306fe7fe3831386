import type { RegistryOrigin } from '../registration/mcp-registration-context.ts';
import { invalid } from '../../registration/invalid.ts';
import { shorten } from '../registration/package-spec.ts';

/** A lookup in a registry. */
export interface ServerQuestion {
  registry: 'official' | 'smithery';
  name: string;
  /** Appended to the registry's address. */
  path: string;
  /** The version that the response must have; undefined if any will do. */
  version: string | undefined;
}

/** As in server.schema.json. Dots alone are refused, because a URL drops `.` and `..` from its path. */
const officialName = /^[a-z0-9.-]{1,200}\/(?!\.+$)[\w.-]{1,200}$/i;
const smitheryName = /^@?(?!\.+(?:\/|$))[\w.-]{1,200}(?:\/(?!\.+$)[\w.-]{1,200})?$/i;
const exactVersion = /^[a-z0-9][\w.+-]{0,199}$/i;

/** [SRC-2] `field` is the request field that holds the origin. */
export function serverQuestion(origin: RegistryOrigin, field: string): ServerQuestion {
  if ('smithery' in origin) {
    const { qualified_name: name } = origin.smithery;
    if (!smitheryName.test(name)) throw invalid(field, `${shorten(name)} is not the name of a server at Smithery, such as owner/name`);
    return { registry: 'smithery', name, path: `/servers/${encodeURIComponent(name)}`, version: undefined };
  }
  const { name, version } = origin.official;
  if (!officialName.test(name))
    throw invalid(field, `${shorten(name)} is not the name of a server in the registry, such as io.github.owner/name`);
  if (!exactVersion.test(version)) throw invalid(field, `${shorten(version)} is not a version, such as 1.2.3 or latest`);
  return {
    registry: 'official',
    name,
    path: `/v0.1/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`,
    version: version === 'latest' ? undefined : version,
  };
}
