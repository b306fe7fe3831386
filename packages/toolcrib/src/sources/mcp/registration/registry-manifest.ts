import type { Manifest, ManifestArgument, ManifestInput, ManifestPackage } from './manifest-model.ts';
import type { RegistryArgument, RegistryInput, RegistryManifest, RegistryPackage } from './registry-schema.ts';

const packageTypes = { npm: 'npm', pypi: 'pypi', oci: 'docker', docker: 'docker' } as const;
const runtimes = { npm: 'npx', pypi: 'uvx', docker: 'docker' } as const;
const transports = { stdio: 'stdio', sse: 'sse', 'streamable-http': 'streamable_http', streamable: 'streamable_http' } as const;

/** [SRC-7] The public registry's form of a manifest. */
export function fromRegistryManifest(path: string, manifest: RegistryManifest): Manifest {
  const packages: ManifestPackage[] = [];
  const unsupported: string[] = [];
  for (const [index, found] of manifest.packages.entries()) {
    const field = `packages[${index}]`;
    const type = Object.hasOwn(packageTypes, found.registryType)
      ? packageTypes[found.registryType as keyof typeof packageTypes]
      : undefined;
    if (type === undefined)
      unsupported.push(`${field}.registryType: ${JSON.stringify(found.registryType)} packages cannot be started here`);
    else if (isElsewhere(found, type)) unsupported.push(`${field}.registryBaseUrl: packages are fetched only from the default registry`);
    else packages.push(toPackage(found, type, field));
  }
  return {
    path,
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    packages,
    remotes: manifest.remotes.map(({ type, url, variables, headers }, index) => ({
      field: `remotes[${index}]`,
      transport: type === 'sse' ? 'sse' : 'streamable_http',
      url,
      variables: mapInputs(variables),
      headers: headers.map((header) => ({ ...toInput(header), name: header.name })),
    })),
    unsupported,
  };
}

function toPackage(found: RegistryPackage, type: 'npm' | 'pypi' | 'docker', field: string): ManifestPackage {
  return {
    field,
    transport: transports[found.transport.type],
    runtime: runtimes[type],
    package: type === 'docker' ? { type, ...imageOf(found) } : { type, identifier: found.identifier, version: found.version },
    command: [],
    runtimeArguments: found.runtimeArguments.map(toArgument),
    arguments: found.packageArguments.map(toArgument),
    variables: found.environmentVariables.map((variable) => ({ ...toInput(variable), name: variable.name })),
  };
}

/** The hosts of the default registries. */
const usualPlaces = { npm: /^registry\.npmjs\.org$/, pypi: /^pypi\.org$/ };

/** npx and uvx fetch from the registry that the operator has set. Another registry has other packages under the same names. */
function isElsewhere({ registryBaseUrl: base }: RegistryPackage, type: 'npm' | 'pypi' | 'docker'): boolean {
  if (base === undefined || type === 'docker') return false;
  return !usualPlaces[type].test(URL.parse(base)?.host ?? '');
}

/** The first schemas had separate fields for an image's registry and version. Without its registry, the image would come from docker.io. */
function imageOf({ identifier, version, registryBaseUrl: base }: RegistryPackage): { identifier: string; version: string | undefined } {
  const host = URL.parse(base ?? '')?.host ?? '';
  const [first = '', ...rest] = identifier.split('/');
  const namesHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const image = host === '' || host === 'docker.io' || namesHost ? identifier : `${host}/${identifier}`;
  return { identifier: image, version: /[:@][^/]*$/.test(image) ? undefined : version };
}

function toArgument(argument: RegistryArgument, index: number): ManifestArgument {
  const input = toInput(argument);
  if (argument.type === 'positional') return { ...input, flag: null, slot: argument.valueHint ?? `argument_${index + 1}`, constant: false };
  // A flag that has only a name is always passed; a flag that is described waits for a value.
  const { value, format, placeholder, choices } = argument;
  const says = [value, argument.default, format, placeholder, choices].some((part) => part !== undefined);
  const constant = value === '' || (!says && !argument.isRequired && !argument.isSecret && argument.description === '');
  return { ...input, flag: argument.name, slot: argument.name.replace(/^-+/, ''), constant };
}

function toInput(input: RegistryInput): ManifestInput {
  const { description, isRequired, isSecret, value, choices, variables = {} } = input;
  return { description, required: isRequired, secret: isSecret, value, default: input.default, choices, variables: mapInputs(variables) };
}

function mapInputs(inputs: Record<string, RegistryInput>): Record<string, ManifestInput> {
  return Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, toInput(input)]));
}
