import type { CallableTools, RunningServer } from '../server/start-server.ts';
import type { ServeConfig } from '../server/server-config.ts';
import { version } from '../version.ts';
import { align } from '../text/align.ts';
import { clientOptions } from './client-options.ts';
import { paint } from './terminal.ts';

/** Time for sources to start and keys to be fetched, so that the banner is still true a moment later. */
const patienceMs = 3000;

/** What a person reads when the server has started. */
export async function serveBanner(config: ServeConfig, running: RunningServer): Promise<string> {
  const { url } = running;
  const [inventory, unreachable] = await Promise.all([running.inventory(patienceMs), running.unreachableIssuers(patienceMs)]);
  const facts = [
    ['Address', url],
    ...((config.mcpDoor ?? running.dev) ? [['MCP', `${url}/mcp: \`toolcrib connect-client\` configures a client for it`]] : []),
    ['Tools', toolsText(inventory)],
    ['Data', config.databaseUrl === undefined ? config.dataDir : `${config.dataDir}, and PostgreSQL at ${placeOf(config.databaseUrl)}`],
    ...(config.configFile === undefined ? [] : [['File', config.configFile]]),
    running.dev
      ? ['Mode', 'development: it issues tokens for alice, bob and admin, only to you']
      : ['Issuers', config.issuers.map(({ issuer }) => issuer).join(', ')],
  ];
  const lines = [
    '',
    `Toolcrib ${version} is open.`,
    '',
    ...align(facts, { indent: 2, paint: (text, column) => (column === 0 ? paint('dim', text) : text) }),
    '',
  ];
  for (const issuer of unreachable) lines.push(paint('yellow', unreachableText(issuer)), '');
  if (running.mint)
    lines.push(
      'A first call, as alice (paste it into another terminal; the token lasts an hour):',
      '',
      ...curl(url, await running.mint('alice')),
      '',
    );
  if (running.demo || running.pizzeria) lines.push(...demoLines(running), '');
  return [...lines, 'Ctrl-C stops the server.', ''].join('\n');
}

function toolsText({ tools, starting }: CallableTools): string {
  if (starting.length === 0) return String(tools);
  const [first, ...others] = starting;
  const which = others.length < 3 ? starting.join(', ') : `${first} and ${others.length} other sources`;
  return `${tools} so far; still starting: ${which}`;
}

function unreachableText(issuer: string): string {
  return `The keys of ${issuer} cannot be fetched, so its users are refused until then. Check the address, and that this machine can reach it. The log says why, and \`toolcrib doctor\` checks again.`;
}

/** Not indented, so that it can be copied as it is. */
function curl(url: string, token: string): string[] {
  const body = { name: 'builtin:calculator', arguments: { expression: '6 * 7' } };
  return [
    `curl -sS ${url}/api/bff/tools/call \\`,
    `  -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' \\`,
    `  -H 'Authorization: Bearer ${token}'`,
  ];
}

/** Only commands that work in this folder: `npx` finds the command of a clone as well as of an installed package. */
function demoLines({ url, demo, pizzeria }: RunningServer): string[] {
  const where = url === clientOptions.url.default ? '' : ` --url ${url}`;
  const baking = [
    `npx toolcrib call demo:bake_pizza --arg pizza=diavola --stream${where}`,
    'an MCP server that comes with Toolcrib, with progress',
  ];
  const ordering = [
    `npx toolcrib call pizzeria:place_order --arg 'body={"pizza":"funghi"}' --stream${where}`,
    'an OpenAPI service, called as alice, polled until it is ready',
  ];
  const commands = [
    ...(demo ? [baking] : []),
    ...(pizzeria ? [ordering] : []),
    [`npx toolcrib add npx @modelcontextprotocol/server-everything${where}`, 'a source of your own choice'],
  ];
  return ['And then:', '', ...align(commands, { indent: 2, paint: (text, column) => (column === 1 ? paint('dim', text) : text) })];
}

/** Without user and password. */
function placeOf(databaseUrl: string): string {
  const { host = '', pathname = '' } = URL.parse(databaseUrl) ?? {};
  return `${host}${pathname}`;
}
