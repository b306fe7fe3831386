/** A call of a demo tool, and what the tool can do during it. */
interface DemoCall {
  args: Record<string, unknown>;
  signal: AbortSignal;
  progress(progress: number, total: number, message: string): void;
  /** Asks the user. Undefined if they do not answer. */
  ask(message: string, properties: object): Promise<Record<string, unknown> | undefined>;
}

interface DemoTool {
  name: string;
  title: string;
  description: string;
  inputSchema: object;
  outputSchema?: object;
  annotations: object;
  call(call: DemoCall): object | Promise<object>;
}

export const prices: Readonly<Record<string, number>> = { margherita: 8.5, funghi: 9.5, diavola: 11, 'quattro formaggi': 11.5 };
const pizza = { type: 'string', enum: Object.keys(prices), description: 'A pizza from the menu' };
const number = { type: 'number' };
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const stages = ['The oven is hot', 'The dough is thrown', 'The sauce is on', 'In the oven', 'Out of the oven'];

export const menu = `# Menu\n\n${Object.entries(prices)
  .map(([name, price]) => `- ${name}: ${price.toFixed(2)} EUR`)
  .join('\n')}\n`;

/** A made-up pizzeria: one tool for each feature worth seeing in the first minute. */
export const demoTools: readonly DemoTool[] = [
  {
    name: 'price_order',
    title: 'Price an order',
    description: 'Adds up what an order costs. Shows a structured answer.',
    inputSchema: {
      type: 'object',
      properties: {
        items: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            properties: { pizza, count: { type: 'integer', minimum: 1, maximum: 100 } },
            required: ['pizza', 'count'],
            additionalProperties: false,
          },
        },
      },
      required: ['items'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { lines: { type: 'array', items: { type: 'object' } }, total: number, currency: { type: 'string' } },
      required: ['lines', 'total', 'currency'],
    },
    annotations: { readOnlyHint: true },
    call({ args }) {
      const items = args.items as { pizza: string; count: number }[];
      const lines = items.map(({ pizza, count }) => ({ pizza, count, price: (prices[pizza] ?? 0) * count }));
      const order = { lines, total: lines.reduce((sum, { price }) => sum + price, 0), currency: 'EUR' };
      return { ...text(JSON.stringify(order)), structuredContent: order };
    },
  },
  {
    name: 'bake_pizza',
    title: 'Bake a pizza',
    description: 'Bakes a pizza and reports progress. Can be cancelled.',
    inputSchema: {
      type: 'object',
      properties: { pizza, seconds: { type: 'number', minimum: 0, maximum: 60, description: 'How long it takes; 2 by default' } },
      required: ['pizza'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false },
    async call({ args, signal, progress }) {
      const stageMs = (Number(args.seconds ?? 2) * 1000) / stages.length;
      for (const [index, stage] of stages.entries()) {
        await pause(stageMs, signal);
        progress(index + 1, stages.length, stage);
      }
      return text(`Your pizza ${String(args.pizza)} is ready.`);
    },
  },
  {
    name: 'book_table',
    title: 'Book a table',
    description: 'Books a table after asking for how many people. Shows a question in the middle of a call.',
    inputSchema: {
      type: 'object',
      properties: { day: { type: 'string', description: 'A day, such as Friday' } },
      required: ['day'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false },
    async call({ args, ask }) {
      const day = String(args.day);
      const answer = await ask(`A table for ${day}: for how many people?`, {
        guests: { type: 'integer', title: 'Guests', minimum: 1, maximum: 12 },
      });
      return text(answer === undefined ? 'No table was booked.' : `A table for ${String(answer.guests)} is booked for ${day}.`);
    },
  },
];

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('cancelled'));
    });
  });
}
