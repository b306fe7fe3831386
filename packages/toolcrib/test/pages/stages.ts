import { petSchema } from '../fixtures/graphql-service.ts';
import { fixtureServer } from '../fixtures/mcp/start-fixture.ts';
import type { PartName } from '../parts.ts';
import type { PageSettings } from './page-script.ts';
import { readBlocks } from './read-page.ts';

/** What a page takes for granted: that a server runs, files it speaks of, the address of a database. */
export interface Stage extends PageSettings {
  /** Parts without which the page cannot be tried. */
  parts?: PartName[];
  /** By name, in the folder in which everything is typed. */
  files?: Record<string, string>;
}

/** In another terminal, as the README begins. */
const serving = 'background <<<"npx toolcrib serve"';

const fixtureManifest = JSON.stringify({
  name: 'github',
  version: '1.0.0',
  packages: [{ name: 'github', transport_type: 'stdio', runtime: 'node', command: [process.execPath, fixtureServer, 'tools'] }],
});

/** The manual that the page shows. */
const weatherManual = JSON.parse(
  readBlocks('docs/utcp.md').find(({ kind, text }) => kind === 'json' && text.includes('get_forecast'))?.text ?? '{}',
) as object;

export const stages: Record<string, Stage> = {
  'README.md': { parts: ['npx'] },
  'docs/access.md': {
    before: `${serving}
export ADMIN=$(npx toolcrib token admin)
npx toolcrib token alice >token.txt
HEAD=$(npx toolcrib audit verify --json | npx node -pe 'JSON.parse(fs.readFileSync(0)).ledgers.flatMap((ledger) => ledger.heads)[0]')`,
    ends: { "npx toolcrib call builtin:calculator --arg 'expression=6 * 7' --as bob": 1 },
  },
  'docs/async-operations.md': {
    before: serving,
    ends: { [`npx toolcrib call pizzeria:place_order --arg 'body={"pizza":"funghi","bake":"dark"}'`]: 1 },
  },
  'docs/calling-tools.md': { before: `${serving}\nexport TOKEN=$(npx toolcrib token alice)` },
  'docs/config-as-code.md': {
    before: `${serving}\ncp examples/toolcrib.yaml toolcrib.yaml`,
    parts: ['npx'],
    ends: { 'npx toolcrib plan': 2 },
    answers: { 'npx toolcrib apply': 'y' },
  },
  'docs/graphql.md': { before: serving, files: { 'schema.graphql': petSchema } },
  'docs/keycloak.md': { parts: ['keycloak'] },
  'docs/mcp-servers.md': {
    before: `${serving}
echo a-new-token >new-token.txt
trap 'end_terminals; docker rm -f toolcrib-page-tools >/dev/null' EXIT
docker run --detach --network none --name toolcrib-page-tools --entrypoint sleep ghcr.io/example/tickets:1 infinity`,
    parts: ['npx', 'uvx', 'docker'],
    files: {
      'plugins/github/server.json': fixtureManifest,
      'mcp.json': JSON.stringify({ mcpServers: { notes: { command: process.execPath, args: [fixtureServer, 'tools'] } } }),
    },
    answers: {
      'npx toolcrib add npx @example/server-tickets --secret TICKETS_TOKEN --dry-run': 'a-token',
      'npx toolcrib add --image ghcr.io/example/tickets:1 --network bridge --secret TICKETS_TOKEN -- tickets-mcp --stdio': 'a-token',
      'npx toolcrib sources approve time': 'y',
    },
  },
  'docs/observability.md': { before: `${serving}\nnpx toolcrib add --name Files -- ${process.execPath} ${fixtureServer} tools` },
  'docs/openapi.md': { before: `${serving}\ncurl -s https://api.example.org/openapi.json >openapi.yaml` },
  'docs/running.md': {
    before: `${serving}
export TOOLCRIB_KEYS=page:$(openssl rand -base64 32)
serve <<<'npx toolcrib serve --data /var/lib/toolcrib'
mkdir /backups`,
    parts: ['keycloak', 'postgres', 'openssl'],
  },
  'docs/utcp.md': { before: serving, files: { 'weather.json': JSON.stringify(weatherManual) } },
  'docs/workflows.md': { before: serving },
  'examples/agent-host/README.md': { parts: ['keycloak'] },
};
