import { ZodError } from 'zod';
import { CribError } from '../../../model/crib-error.ts';
import type { Egress } from '../../../net/egress.ts';
import type { SecretStore } from '../../../secrets/secret-store.ts';
import { readOfficialAnswer, type RegistryAnswer } from './official-answer.ts';
import type { LookUpServer } from '../registration/mcp-registration-context.ts';
import { serverQuestion, type ServerQuestion } from './server-question.ts';
import { readSmitheryAnswer } from './smithery-answer.ts';

/** The addresses of the registries; null turns a registry off. */
export interface Registries {
  official: string | null;
  smithery: string | null;
}

export const publicRegistries = {
  official: 'https://registry.modelcontextprotocol.io',
  smithery: 'https://registry.smithery.ai',
} satisfies Registries;

interface RegistryLookupInput {
  registries: Registries;
  egress: Egress;
  secrets: Pick<SecretStore, 'get'>;
}

/** Most descriptions have a few kilobytes; Smithery's contain all tools. */
const maxBytes = 1024 * 1024;
const timeoutMs = 10_000;

const readers: Record<ServerQuestion['registry'], (value: unknown) => RegistryAnswer> = {
  official: readOfficialAnswer,
  smithery: readSmitheryAnswer,
};
const titles = { official: 'The MCP registry', smithery: "Smithery's registry" };
const instead = 'or give package and transport yourself';

/** [SRC-2] [SEC-1] Looks up a server in a registry. Redirects are not followed: the operator has set the registry's address. */
export function createRegistryLookup({ registries, egress, secrets }: RegistryLookupInput): LookUpServer {
  return async (origin, field) => {
    const question = serverQuestion(origin, field);
    const { registry, name, version } = question;
    const address = registries[registry];
    if (address === null)
      throw refusal(field, `${titles[registry]} is not used here: the operator has turned it off. Give package and transport yourself`);
    const title = `${titles[registry]} at ${address}`;
    const { status, body } = await ask(question, address).catch((cause: unknown) => {
      if (!(cause instanceof CribError)) throw cause;
      throw new CribError('SERVICE_UNAVAILABLE', `The lookup failed. ${title}: ${cause.message}. Try again later, ${instead}`, {
        field,
        cause,
      });
    });
    if (status === 404) throw refusal(field, `${title} has no server ${name}${version === undefined ? '' : `, version ${version}`}`);
    if (status === 401 || status === 403)
      throw refusal(field, `${title} requires a token: store it as the secret ${secretOf(registry)}, ${instead}`);
    if (status !== 200)
      throw new CribError('SERVICE_UNAVAILABLE', `${title} answered with status ${status}. Try again later, ${instead}`, { field });
    const { server, status: state } = read(question, body, { field, title });
    if (state === 'deleted')
      throw new CribError('FORBIDDEN', `${name} ${server.version} has been deleted from the registry. Use another version`, { field });
    return { registry: address, name: server.name, version: server.version, deprecated: state === 'deprecated', server };
  };

  async function ask({ registry, path }: ServerQuestion, address: string): Promise<{ status: number; body: string }> {
    const token = (await secrets.get(secretOf(registry)))?.reveal();
    return egress.trusting([address]).fetchDocument(`${address.replace(/\/+$/, '')}${path}`, {
      maxBytes,
      timeoutMs,
      accept: 'application/json',
      // The operator has set the address, and may choose plain http.
      allowInsecure: true,
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
  }
}

function read(
  { registry, name, version }: ServerQuestion,
  body: string,
  { field, title }: { field: string; title: string },
): RegistryAnswer {
  const unusable = (why: string, cause?: unknown) =>
    new CribError('SERVICE_UNAVAILABLE', `${title} sent a response that cannot be used: ${why}. Try again later, ${instead}`, {
      field,
      cause,
    });
  let answer: RegistryAnswer;
  try {
    answer = readers[registry](JSON.parse(body));
  } catch (error) {
    if (error instanceof SyntaxError) throw unusable('it is not JSON', error);
    if (!(error instanceof ZodError)) throw error;
    const [issue] = error.issues;
    throw unusable(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'does not match the schema'}`, error);
  }
  const { server } = answer;
  if (server.name.toLowerCase() !== name.toLowerCase()) throw unusable('it is about another server');
  if (version !== undefined && server.version !== version) throw unusable('it is about another version');
  return answer;
}

/** The name of the stored secret that holds the token for a registry. */
function secretOf(registry: ServerQuestion['registry']): string {
  return `registry.${registry}`;
}

function refusal(field: string, message: string): CribError {
  return new CribError('VALIDATION_ERROR', message, { field });
}
