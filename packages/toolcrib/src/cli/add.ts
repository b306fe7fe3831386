import { CribError } from '../model/crib-error.ts';
import { npxOptions, uvxOptions } from '../sources/mcp/registration/runner-options.ts';
import type { SourceFormInput } from '../sources/registration/source-form.ts';
import { askedSecrets } from './add-basic.ts';
import { addDryRun } from './add-dry-run.ts';
import { addOptions, type AddOption } from './add-options.ts';
import { addRegistration } from './add-registration.ts';
import { addReport } from './add-report.ts';
import { addTarget } from './add-target.ts';
import { addVariables } from './add-variables.ts';
import { defineCommand } from './command.ts';
import { describeMissing } from './describe-missing.ts';
import type { Given } from './given.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { administratorFrom } from './secrets-options.ts';
import { createSourceClient, type SourceClient } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';
import { whileWatching } from './while-watching.ts';

export const add = defineCommand({
  operands: '<npx package | uvx package | registry:name | url | folder | document | program> [arguments…]',
  strayOptions: 'Options for the server go behind `--`',
  launchers: { npx: npxOptions, uvx: uvxOptions },
  // None is answered below, in words of its own.
  operandCount: [0, 400],
  options: addOptions,
  notes: [
    'Registers an MCP server, or a service that an OpenAPI document describes, waits until it has started, and lists its tools.',
    'Fetching a package can take a while.',
    'Options of npx and uvx stand directly behind them: `uvx --from PACKAGE PROGRAM`, `npx -p PACKAGE PROGRAM`.',
    'Options for the server go behind `--`; so does a program with all its arguments.',
    'registry:io.github.owner/name[@version] is looked up in the MCP registry, smithery:owner/name at Smithery: what is started, and which variables it needs.',
    'A folder is one with a manifest in it: server.json or plugin.json.',
    'A document is an address or a file here that ends in .json, .yaml or .yml; a file is read here and sent. An Arazzo document is workflows.',
    'For a document, the variable BEARER_TOKEN is the token it is called with, and API_KEY the header X-API-Key.',
    'With --container or --image all of it is the program inside the container, and its arguments.',
    'A server is kept running (--lifecycle singleton), since that is what makes calls quick.',
    'A source that does not start stays registered. Ctrl-C only stops watching.',
  ],
  examples: [
    'toolcrib add npx @modelcontextprotocol/server-everything',
    'toolcrib add npx @modelcontextprotocol/server-filesystem --name files -- /srv/files',
    'toolcrib add uvx mcp-server-git --version 2026.1.14',
    "toolcrib add uvx --from 'mcp-server-fetch==2026.10.24' --with socksio mcp-server-fetch",
    'toolcrib add npx @example/server-tickets --secret TICKETS_TOKEN < token.txt',
    'toolcrib add registry:io.github.domdomegg/airtable-mcp-server --secret AIRTABLE_API_KEY < key.txt',
    'toolcrib add https://mcp.example.org/mcp --oauth',
    "toolcrib add https://mcp.example.org/mcp --header 'X-Team: blue' --secret BEARER_TOKEN",
    'toolcrib add https://api.example.org/openapi.json --secret BEARER_TOKEN < token.txt',
    'toolcrib add https://api.example.org/openapi.json --basic-user ann < password.txt',
    "toolcrib add ./openapi.yaml --server-url https://api.example.org/v2 --tag orders --method GET --exclude '*admin*'",
    'toolcrib add ./plugins/github --secret GITHUB_TOKEN --dry-run',
    'toolcrib add -- python3 ./server.py --verbose',
    'toolcrib add --container tools -- node /srv/server.js',
    'toolcrib add --image ghcr.io/example/tickets:1 --network bridge --secret TICKETS_TOKEN -- tickets-mcp --stdio',
  ],
  async run(given) {
    const target = addTarget(given);
    // Before a secret is asked for, so that nobody types one in vain.
    addRegistration(given, target, {});
    const variables = await addVariables({ env: given.list('env'), secret: askedSecrets(given) }, process.stdin);
    const administrator = await administratorFrom(given);
    const sources = createSourceClient(administrator);
    const json = given.on('json');
    const form = addRegistration(given, target, variables);
    if (given.on('dry-run')) return addDryRun(sources, form, { json });
    const source = await sources.register(form).catch((error: unknown) => explainRefusal(error, sources, form));
    if (given.on('no-wait')) {
      if (json) printJson(source);
      else print(`${source.namespace} is registered and being started: \`toolcrib sources show ${source.namespace}\` says how it went.`);
      return 0;
    }
    const signal = interruptSignal();
    try {
      const watched = { id: source.id, label: `Starting ${source.namespace}`, isNew: true, signal };
      const settled = await whileWatching(administrator, watched, () => sources.settled(source.id, signal));
      if (json) printJson(settled);
      else await addReport(administrator, settled, { asTyped: (command) => asTyped(command, given) });
      return settled.status.state === 'running' ? 0 : 1;
    } catch (error) {
      if (!signal.aborted) throw error;
      remark(`No longer watching. ${source.namespace} stays registered and goes on: \`toolcrib sources show ${source.namespace}\``);
      return interruptedCode;
    }
  },
});

async function explainRefusal(error: unknown, sources: SourceClient, form: SourceFormInput): Promise<never> {
  if (!(error instanceof CribError)) throw error;
  const { code, message } = error;
  // Most often the same thing was added before.
  if (code === 'CONFLICT') {
    const advice = '`toolcrib sources` lists what is there; --name or --namespace gives this one another.';
    throw new CribError(code, `${message} ${advice}`, { cause: error });
  }
  if (message !== 'Missing required credentials') throw error;
  // The refusal names one of them, a preview all.
  const preview = await sources.preview(form, { discover: false });
  throw new CribError(code, describeMissing(preview), { cause: error });
}

/** The next command, as somebody has to type it who typed this one. */
function asTyped(command: string, given: Given<AddOption>): string {
  const program = process.env.npm_command === 'exec' ? 'npx toolcrib' : 'toolcrib';
  return `${program} ${command}${given.origin('url') === '--url' ? ` --url ${given.required('url')}` : ''}`;
}
