import type { Answer, Progress, ToolcribClient } from './toolcrib-client.ts';

/**
 * An agent without a model: it does what a model would, in an order that is written down, so that it can be tested. It looks at its tools,
 * searches for the one it needs, uses it, reads the error, does better, and says what came of it, line by line.
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
  // The error is written to be acted on. Where it names what there is instead, that is worth another try; where it says no, it is not.
  const [, offered] = /There is: (\w+)/.exec(problem) ?? [];
  if (offered !== undefined && offered !== pizza) yield* order(toolcrib, tool, offered);
}

/** Tells of the progress of a call while it runs; gives its answer. */
async function* tell(call: AsyncGenerator<Progress, Answer>): AsyncGenerator<string, Answer> {
  for (;;) {
    const { done, value } = await call.next();
    if (done === true) return value;
    yield `${value.progress} of ${value.total}: ${value.message}`;
  }
}
