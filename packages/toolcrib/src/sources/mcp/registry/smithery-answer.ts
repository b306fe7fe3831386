import { z } from 'zod';
import { registryManifestSchema } from '../registration/registry-schema.ts';
import { looksSecret } from '../../../secrets/secret-looks.ts';
import type { RegistryAnswer } from './official-answer.ts';

const configSchema = z.object({
  properties: z
    .record(z.string().max(200), z.object({ description: z.string().max(8192).optional(), default: z.unknown().optional() }).catch({}))
    .default({}),
  required: z.array(z.string().max(200)).max(500).default([]),
});

const connectionSchema = z.object({
  type: z.string().max(50),
  deploymentUrl: z.string().max(2048).optional(),
  configSchema: configSchema.catch({ properties: {}, required: [] }).default({ properties: {}, required: [] }),
  command: z.string().max(200).optional(),
  args: z.array(z.string().max(8192)).max(200).default([]),
  env: z.record(z.string().max(200), z.string().max(8192)).catch({}).default({}),
  bundleUrl: z.string().max(2048).optional(),
});
type Connection = z.infer<typeof connectionSchema>;

const answerSchema = z.object({
  qualifiedName: z.string().max(500),
  description: z.string().max(8192).nullish(),
  deploymentUrl: z.string().max(2048).nullish(),
  connections: z.array(connectionSchema).max(50).default([]),
});

/** Smithery's description of a server, in the form of `server.json`. */
export function readSmitheryAnswer(value: unknown): RegistryAnswer {
  const { qualifiedName: name, description, connections, deploymentUrl } = answerSchema.parse(value);
  const started = connections.filter(({ type }) => type === 'stdio');
  const http = connections.filter(({ type }) => type === 'http');
  // Some responses have the address of the deployment only at the top level.
  const remote =
    http.length > 0 || deploymentUrl == null ? http : [connectionSchema.parse({ ...connections[0], type: 'http', deploymentUrl })];
  const server = registryManifestSchema.parse({
    name,
    description: description ?? '',
    packages: started.map(packageOf),
    remotes: remote.flatMap(remoteOf),
  });
  return { server, status: undefined };
}

/** Only packages for npx and uvx are supported. A bundle is not, and a JavaScript function that returns the command is never run. */
function packageOf({ command, args, env, bundleUrl }: Connection): object {
  const [identifier, ...rest] = args.filter((arg, index) => !(index === 0 && /^(?:-y|--yes)$/.test(arg)));
  const registryType = command === 'npx' ? 'npm' : command === 'uvx' ? 'pypi' : undefined;
  if (registryType === undefined || identifier === undefined || identifier.startsWith('-')) {
    return { registryType: bundleUrl === undefined ? 'stdioFunction' : 'mcpb', identifier: bundleUrl ?? 'stdioFunction' };
  }
  return {
    registryType,
    identifier,
    packageArguments: rest.map((value) => ({ type: 'positional', value })),
    environmentVariables: Object.entries(env).map(([name, value]) => ({ name, default: value, isSecret: looksSecret(name) })),
  };
}

/** The remote server, with its settings as query parameters of the address. */
function remoteOf({ deploymentUrl, configSchema: { properties, required } }: Connection): object[] {
  const address = URL.parse(deploymentUrl ?? '');
  if (address === null) return [];
  // The host of the first deployments serves each server under its name, and MCP at `/mcp` below that.
  if (address.hostname === 'server.smithery.ai' && !/\/mcp\/?$/.test(address.pathname))
    address.pathname = address.pathname.replace(/\/?$/, '/mcp');
  const names = [...new Set([...required, ...Object.keys(properties)])].filter((name) => /^[\w.-]+$/.test(name));
  const query = names.map((name) => `${name}={${name}}`).join('&');
  const variables = names.map((name) => {
    const { description = '', default: usualValue } = properties[name] ?? {};
    const plain = ['string', 'number', 'boolean'].includes(typeof usualValue) ? { default: String(usualValue) } : {};
    return [name, { description, isRequired: required.includes(name), isSecret: looksSecret(name), ...plain }];
  });
  const url = `${address.origin}${address.pathname}${query === '' ? '' : `?${query}`}`;
  return [{ type: 'streamable-http', url, variables: Object.fromEntries(variables) }];
}
