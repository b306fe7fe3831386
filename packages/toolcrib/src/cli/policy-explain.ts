import { clientOptions } from './client-options.ts';
import { createClient, type Client } from './client.ts';
import { defineCommand } from './command.ts';
import { describeExplanation, shownExplanationSchema } from './describe-explanation.ts';
import { requestDevToken } from './dev-token.ts';
import type { Given } from './given.ts';
import { jsonFault } from '../model/json-fault.ts';
import { isObject } from '../model/json.ts';
import { parseAnswer } from './parse-answer.ts';
import { explainWho } from './policy-who.ts';
import { expiredToken, readToken } from './read-token.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

const options = {
  url: clientOptions.url,
  token: { value: 'jwt', help: 'Explains what the user of this token may use: the token, `-` for standard input, or `@` and a file' },
  as: { value: 'user', help: 'Explains what a user of the development issuer may use; alice by default' },
  claims: { value: 'json', help: 'Explains what somebody with these claims may use' },
  tool: { value: 'name', help: 'Explains the decision about this tool; by default about all tools' },
  who: { help: 'Explains who may use the tool that --tool names: which policies grant it' },
  'admin-token': {
    value: 'jwt',
    help: 'The token of the administrator who asks; by default a token for `admin` from the development issuer',
    env: 'TOOLCRIB_TOKEN',
  },
  json: clientOptions.json,
} as const;
type ExplainOption = keyof typeof options;

export const policyExplain = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options,
  examples: [
    'toolcrib policy explain --as bob',
    'toolcrib policy explain --as bob --tool builtin:calculator',
    'toolcrib policy explain --who --tool builtin:calculator',
    'toolcrib policy explain --token - < token.txt',
    'toolcrib policy explain --claims \'{"realm_access": {"roles": ["toolcrib-user"]}}\'',
  ],
  async run(given) {
    const client = createClient(given.required('url'), { named: given.origin('url') });
    const tool = given.text('tool');
    if (given.on('who')) {
      const asked = toolOfWho(given);
      return explainWho({ client, token: await adminToken(given, client) }, asked, { json: given.on('json') });
    }
    const about = await whomAbout(given);
    const admin = await adminToken(given, client);
    const whom = 'user' in about ? { token: (await requestDevToken(client, about.user)).access_token } : about;
    const body = { ...whom, ...(tool === undefined ? {} : { tool }) };
    const answer = await client.json('POST', '/api/policies/explain', { token: admin, body });
    if (given.on('json')) printJson(answer);
    else print(describeExplanation(parseAnswer(shownExplanationSchema, answer, client.url)));
    return 0;
  },
});

async function adminToken(given: Given<ExplainOption>, client: Client): Promise<string> {
  return given.text('admin-token') ?? (await requestDevToken(client, 'admin')).access_token;
}

function toolOfWho(given: Given<ExplainOption>): string {
  const tool = given.text('tool');
  if (tool === undefined) throw new UsageError('--who needs a tool: name it with --tool', { field: 'tool' });
  if ((['token', 'as', 'claims'] as const).some((option) => given.text(option) !== undefined))
    throw new UsageError('--who is about everybody: leave out --token, --as and --claims', { field: 'who' });
  return tool;
}

async function whomAbout(given: Given<ExplainOption>): Promise<{ user: string } | { token: string } | { claims: object }> {
  const [token, user, claims] = [given.text('token'), given.text('as'), given.text('claims')];
  if ([token, user, claims].filter((one) => one !== undefined).length > 1)
    throw new UsageError('Give only one of --token, --as and --claims');
  if (token !== undefined) return aboutToken(await readToken(token));
  if (claims !== undefined) return { claims: parseClaims(claims) };
  if (user === undefined) remark('Explaining for alice of the development issuer; --as, --token or --claims choose somebody else.');
  return { user: user ?? 'alice' };
}

/** The server refuses an expired token, but its claims are still worth explaining. */
function aboutToken(token: string): { token: string } | { claims: object } {
  const expired = expiredToken(token);
  if (expired === undefined) return { token };
  const when = expired.expiredAt.toISOString().replace('T', ' ').slice(0, 16);
  remark(`This token expired at ${when} UTC, and the server refuses it. The following explains its claims, which are not verified.`);
  return { claims: expired.claims };
}

function parseClaims(text: string): object {
  const fault = jsonFault(text);
  const claims: unknown = fault === undefined ? JSON.parse(text) : undefined;
  if (isObject(claims)) return claims;
  const where = fault === undefined ? '' : `. It is not JSON: ${fault}`;
  throw new UsageError(`--claims must be a JSON object such as {"sub": "u-1"}${where}`, { field: 'claims' });
}
