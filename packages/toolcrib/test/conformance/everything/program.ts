/**
 * The conformance fixture as a program: `node test/conformance/everything/program.ts [--era legacy|modern|both] [--stdio | --port N]`.
 * Over HTTP it prints its address and stays until it is told to end; over stdio it ends with its input.
 */
import { parseArgs } from 'node:util';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Catalogue } from './catalogue.ts';
import { createServer } from './create-server.ts';
import { withNamedRequests } from './named-requests.ts';
import { startEverything, type Era } from './serve-http.ts';

const { era, stdio, port } = parseArgs({
  options: {
    era: { type: 'string', default: 'both' },
    stdio: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
  },
}).values;
if (!isEra(era)) throw new Error(`--era is legacy, modern or both, not ${era}`);

if (!stdio) {
  const { url } = await startEverything({ era, port: Number(port) });
  process.stdout.write(`${url}\n`);
} else if (era === 'legacy') {
  await createServer({ catalogue: new Catalogue(), stays: true }).connect(withNamedRequests(new StdioServerTransport()));
} else {
  const catalogue = new Catalogue();
  const transport = withNamedRequests(new StdioServerTransport());
  serveStdio(() => createServer({ catalogue, stays: true }), { transport, legacy: era === 'modern' ? 'reject' : 'serve' });
}

function isEra(value: string): value is Era {
  return ['legacy', 'modern', 'both'].includes(value);
}
