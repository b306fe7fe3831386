import type { Answer, Progress, ToolcribClient } from './toolcrib-client.ts';

/**
 * An agent without a model: it follows a script, so that it can be tested. It lists its tools, searches for the one it needs, calls it, reads
 * the error, corrects itself, and reports the outcome, line by line.
 */
export async function* runAgent(toolcrib: ToolcribClient, { pizza }: { pizza: string }): AsyncGenerator<string> {
  const tools = await toolcrib.tools();
  yield `I may use ${tools.length} tools: ${tools.map(({ name }) => name).join(', ')}.`;

  const orderTool = (await toolcrib.tools('order pizza')).find(({ name }) => name.endsWith(':order_pizza'));
  if (orderTool === undefined) return yield 'None of them orders pizza, so I cannot help with that.';

  yield* order(toolcrib, orderTool.name, pizza);

  const answer = yield* tell(toolcrib.call(orderTool.name.replace(/order_pizza$/, 'list_orders'), {}));
  yield answer.success ? `So far: ${answer.text}.` : `What was ordered so far I cannot see: ${answer.error?.message}`;
}

async function* order(toolcrib: ToolcribClient, tool: string, pizza: string): AsyncGenerator<string> {
  yield `I call ${tool} for ${pizza}.`;
  const answer = yield* tell(toolcrib.call(tool, { pizza, count: 1 }));
  if (answer.success) return yield `Done: ${answer.text}.`;

  const problem = answer.error?.message ?? '';
  yield `That failed: ${problem}`;
  // Errors say what to do: one that names the alternatives is worth another try, a refusal is not.
  const [, offered] = /There is: (\w+)/.exec(problem) ?? [];
  if (offered !== undefined && offered !== pizza) yield* order(toolcrib, tool, offered);
}

/** Reports the progress of a call while it runs, and returns its answer. */
async function* tell(call: AsyncGenerator<Progress, Answer>): AsyncGenerator<string, Answer> {
  for (;;) {
    const { done, value } = await call.next();
    if (done === true) return value;
    yield `${value.progress} of ${value.total}: ${value.message}`;
  }
}
