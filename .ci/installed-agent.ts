/** Uses every entry point of the installed packages, for installed-package.sh. The argument is the program of an MCP server. */
import assert from 'node:assert/strict';
import { createToolcrib, ToolcribError } from '@toolcrib/langchain';
import { addMcpServer } from '@toolcrib/langchain/local';
import { CribError, openMcpService } from 'toolcrib';
import { answerSchema } from 'toolcrib/api';
import { formatForModel } from 'toolcrib/format-for-model';

assert.equal(typeof openMcpService, 'function');
assert.equal(new CribError('NOT_FOUND', 'gone').httpStatus, 404);

await using demo = addMcpServer({ name: 'Demo', mcp_command: [process.execPath, process.argv[2] ?? ''] });
await demo.start();
const order = { items: [{ pizza: 'diavola', count: 2 }] };
const answer = await demo.callTool('price_order', order);
assert.ok(answerSchema.safeParse(answer).success);
assert.match(formatForModel(answer), /^total: 22$/m);
const tool = demo.tools().find(({ name }) => name === 'demo_price_order');
assert.equal(await tool?.invoke(order), formatForModel(answer));

await assert.rejects(createToolcrib({ url: 'http://127.0.0.1:9', token: 'none' }).tools(), ToolcribError);
console.log('Both packages work as installed.');
