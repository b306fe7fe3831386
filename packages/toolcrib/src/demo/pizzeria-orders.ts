import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { prices } from './pizzeria.ts';

/** The body of an order. */
export const wishSchema = z.strictObject({
  pizza: z.enum(Object.keys(prices)),
  count: z.int().min(1).max(20).default(1),
  bake: z.enum(['normal', 'dark']).default('normal'),
});
type Wish = z.infer<typeof wishSchema>;

const placedSchema = z.strictObject({
  id: z.string(),
  /** The `sub` of the customer's token. */
  owner: z.string(),
  customer: z.string(),
  wish: wishSchema,
  placed_at: z.number(),
  cancelled: z.boolean(),
  /** The key of the request that placed the order. */
  idempotency_key: z.string().nullable(),
});
type Placed = z.infer<typeof placedSchema>;

interface Order {
  id: string;
  status: 'received' | 'baking' | 'ready' | 'burnt' | 'cancelled';
  pizza: string;
  count: number;
  price: number;
  customer: string;
  placed_at: string;
  message: string;
}

interface Customer {
  sub: string;
  name: string;
}

const mostOrders = 1000;
const messages: Record<Order['status'], string> = {
  received: 'The kitchen has the order',
  baking: 'The pizza is in the oven',
  ready: 'The pizza is on the table',
  burnt: 'The pizza was in the oven for too long: order it with a normal bake',
  cancelled: 'The order was cancelled',
};

interface OrdersInput {
  /** Keeps the orders across restarts; only in memory if left out. */
  file?: string | undefined;
  bakeMs: number;
  now(): number;
}

/** The orders of a pizzeria. Nothing runs in the background: the status of an order follows from its age. */
export class PizzeriaOrders {
  readonly #file: string | undefined;
  readonly #bakeMs: number;
  readonly #now: () => number;
  #placed: Placed[];

  constructor({ file, bakeMs, now }: OrdersInput) {
    this.#file = file;
    this.#bakeMs = bakeMs;
    this.#now = now;
    this.#placed = file === undefined ? [] : read(file);
  }

  /** A second request with the same key returns the first order; undefined if it orders something else. */
  place(customer: Customer, wish: Wish, key: string | null): Order | undefined {
    const earlier = key === null ? undefined : this.#of(customer).find(({ idempotency_key }) => idempotency_key === key);
    if (earlier !== undefined) return JSON.stringify(earlier.wish) === JSON.stringify(wish) ? this.#show(earlier) : undefined;
    const placed: Placed = {
      id: randomUUID(),
      owner: customer.sub,
      customer: customer.name,
      wish,
      placed_at: this.#now(),
      cancelled: false,
      idempotency_key: key,
    };
    this.#placed = [...this.#placed, placed].slice(-mostOrders);
    this.#write();
    return this.#show(placed);
  }

  /** Finds only the customer's own orders. */
  find(customer: Customer, id: string): Order | undefined {
    const placed = this.#of(customer).find((order) => order.id === id);
    return placed && this.#show(placed);
  }

  /** Oldest first, starting after the order `after`; `more` says whether further orders follow. */
  list(customer: Customer, { after, limit }: { after: string | null; limit: number }): { orders: Order[]; more: boolean } {
    const own = this.#of(customer);
    const from = after === null ? 0 : own.findIndex(({ id }) => id === after) + 1;
    return { orders: own.slice(from, from + limit).map((placed) => this.#show(placed)), more: own.length > from + limit };
  }

  /** False if it is too late; undefined if there is no such order. */
  cancel(customer: Customer, id: string): boolean | undefined {
    const placed = this.#of(customer).find((order) => order.id === id);
    if (placed === undefined) return undefined;
    const { status } = this.#show(placed);
    if (status === 'ready' || status === 'burnt') return false;
    placed.cancelled = true;
    this.#write();
    return true;
  }

  #of({ sub }: Customer): Placed[] {
    return this.#placed.filter(({ owner }) => owner === sub);
  }

  #show({ id, wish, customer, placed_at, cancelled }: Placed): Order {
    const age = this.#now() - placed_at;
    const done = wish.bake === 'dark' ? 'burnt' : 'ready';
    const status = cancelled ? 'cancelled' : age < this.#bakeMs / 4 ? 'received' : age < this.#bakeMs ? 'baking' : done;
    const { pizza, count } = wish;
    const price = (prices[pizza] ?? 0) * count;
    return { id, status, pizza, count, price, customer, placed_at: new Date(placed_at).toISOString(), message: messages[status] };
  }

  #write(): void {
    if (this.#file === undefined) return;
    // Written to a draft and then renamed: a crash leaves either the old orders or the new ones.
    const draft = `${this.#file}.${process.pid}.tmp`;
    writeFileSync(draft, JSON.stringify(this.#placed), { mode: 0o600 });
    renameSync(draft, this.#file);
  }
}

function read(file: string): Placed[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  return z.array(placedSchema).parse(JSON.parse(text));
}
