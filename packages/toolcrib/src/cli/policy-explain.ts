import { clientOptions } from './client-options.ts';
import { createClient } from './client.ts';
import { defineCommand } from './command.ts';
import { describeExplanation, shownExplanationSchema } from './describe-explanation.ts';
import { requestDevToken } from './dev-token.ts';
import type { Given } from './given.ts';
import { parseAnswer } from './parse-answer.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const options = {
  url: clientOptions.url,
  token: { value: 'jwt', help: 'Explains what the user of this token may use' },
  as: { value: 'user', help: 'Explains what a user of the development issuer may use; alice where nothing else is given' },
  claims: { value: 'json', help: 'Explains what somebody with these claims might use' },
  tool: { value: 'name', help: 'Explains the decision about this tool; without it, about all' },
  'admin-token': {
    value: 'jwt',
    help: "The administrator's token that asks; that of `admin` of the development issuer where none is given",
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
    'toolcrib policy explain --claims \'{"realm_access": {"roles": ["toolcrib-user"]}}\'',
  ],
  async run(given) {
    const client = createClient(given.required('url'), { named: given.origin('url') });
    const about = whomAbout(given);
    const tool = given.text('tool');
    const admin = given.text('admin-token') ?? (await requestDevToken(client, 'admin')).access_token;
    const whom = 'user' in about ? { token: (await requestDevToken(client, about.user)).access_token } : about;
    const body = { ...whom, ...(tool === undefined ? {} : { tool }) };
    const answer = await client.json('POST', '/api/policies/explain', { token: admin, body });
    if (given.on('json')) printJson(answer);
    else print(describeExplanation(parseAnswer(shownExplanationSchema, answer, client.url)));
    return 0;
  },
});

function whomAbout(given: Given<ExplainOption>): { user: string } | { token: string } | { claims: object } {
  const [token, user, claims] = [given.text('token'), given.text('as'), given.text('claims')];
  if ([token, user, claims].filter((one) => one !== undefined).length > 1)
    throw new UsageError('Give only one of --token, --as and --claims');
  if (token !== undefined) return { token };
  if (claims !== undefined) return { claims: parseClaims(claims) };
  if (user === undefined) remark('Explaining for alice of the development issuer; --as, --token or --claims choose somebody else.');
  return { user: user ?? 'alice' };
}

function parseClaims(text: string): object {
  try {
    const claims: unknown = JSON.parse(text);
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return claims;
  } catch {
    // Said below, like every other misfit.
  }
  throw new UsageError('--claims must be a JSON object such as {"sub": "u-1"}', { field: 'claims' });
}
