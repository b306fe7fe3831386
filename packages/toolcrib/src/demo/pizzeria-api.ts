import { z } from 'zod';
import { pizzeriaDocument } from './pizzeria-document.ts';
import { PizzeriaOrders, wishSchema } from './pizzeria-orders.ts';
import { prices } from './pizzeria.ts';

/** The audience of the tokens that the pizzeria accepts. */
export const pizzeriaAudience = 'pizzeria-api';

export interface PizzeriaRequest {
  method: string;
  /** The path with the query, without the prefix before `/menu`. */
  path: string;
  header(name: string): string | undefined;
  body: string;
}

export interface PizzeriaAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface PizzeriaInput {
  /** The address of the pizzeria, without a trailing slash. */
  url: string;
  /** Returns the claims of a token that is valid for the pizzeria; throws otherwise. */
  verify(token: string): Promise<unknown>;
  now?(): number;
  /** How long a pizza takes to bake. */
  bakeMs: number;
  /** The file that keeps the orders; only in memory without it. */
  file?: string | undefined;
}

const claimsSchema = z.object({
  sub: z.string(),
  preferred_username: z.string(),
  resource_access: z.record(z.string(), z.object({ roles: z.array(z.string()) })).default({}),
});
const pageSchema = z.strictObject({
  limit: z.coerce.number().pipe(z.int().min(1).max(50)).default(20),
  cursor: z.string().optional(),
});
const keySchema = z.string().min(1).max(100).optional();
const titles: Record<number, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Too late',
  422: 'Key used before',
};

/** A refused request, reported as RFC 9457 problem details. */
class Problem extends Error {
  readonly status: number;
  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

/** A typical small company service: protected by tokens, described by OpenAPI, and with a long-running operation. */
export function createPizzeriaApi({ url, verify, now = Date.now, bakeMs, file }: PizzeriaInput) {
  const orders = new PizzeriaOrders({ file, bakeMs, now });
  const menu = { pizzas: Object.entries(prices).map(([pizza, price]) => ({ pizza, price })), currency: 'EUR' };

  async function customerOf(request: PizzeriaRequest, role: string) {
    const token = /^Bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1];
    let claims: z.infer<typeof claimsSchema>;
    try {
      claims = claimsSchema.parse(await verify(token ?? ''));
    } catch {
      throw new Problem(401, `Send a token for ${pizzeriaAudience}`);
    }
    const { sub, preferred_username: name } = claims;
    if (claims.resource_access[pizzeriaAudience]?.roles.includes(role) !== true) {
      throw new Problem(403, `${name} may not do this: the role ${role} is missing`);
    }
    return { sub, name };
  }

  async function place(request: PizzeriaRequest): Promise<PizzeriaAnswer> {
    const customer = await customerOf(request, 'orders:write');
    const key = understood(keySchema, request.header('idempotency-key')) ?? null;
    const order = orders.place(customer, understood(wishSchema, parsed(request.body)), key);
    if (order === undefined) throw new Problem(422, 'This Idempotency-Key was used for another order');
    return json(202, order, { location: `${url}/orders/${order.id}` });
  }

  async function list(request: PizzeriaRequest, query: URLSearchParams): Promise<PizzeriaAnswer> {
    const customer = await customerOf(request, 'orders:read');
    const { limit, cursor } = understood(pageSchema, Object.fromEntries(query));
    const { orders: page, more } = orders.list(customer, { after: cursor ?? null, limit });
    const next = more ? (page.at(-1)?.id ?? null) : null;
    const link = `<${url}/orders?limit=${limit}&cursor=${next}>; rel="next"`;
    return json(200, { orders: page, next_cursor: next }, next === null ? {} : { link });
  }

  async function one(request: PizzeriaRequest, id: string): Promise<PizzeriaAnswer> {
    const order = orders.find(await customerOf(request, 'orders:read'), id);
    if (order === undefined) throw noSuchOrder();
    return json(200, order);
  }

  async function cancel(request: PizzeriaRequest, id: string): Promise<PizzeriaAnswer> {
    const cancelled = orders.cancel(await customerOf(request, 'orders:write'), id);
    if (cancelled === undefined) throw noSuchOrder();
    if (!cancelled) throw new Problem(409, 'The pizza is already out of the oven');
    return { status: 204, headers: {}, body: '' };
  }

  async function answer(request: PizzeriaRequest): Promise<PizzeriaAnswer> {
    const { method } = request;
    const [path = '', search = ''] = request.path.split('?', 2);
    const id = /^\/orders\/([\w-]+)$/.exec(path)?.[1];
    if (id !== undefined && method === 'GET') return one(request, id);
    if (id !== undefined && method === 'DELETE') return cancel(request, id);
    if (path === '/orders' && method === 'POST') return place(request);
    if (path === '/orders' && method === 'GET') return list(request, new URLSearchParams(search));
    if (path === '/menu' && method === 'GET') return json(200, menu);
    if (path === '/openapi.json' && method === 'GET') return json(200, pizzeriaDocument(url));
    const isKnown = id !== undefined || ['/orders', '/menu', '/openapi.json'].includes(path);
    throw isKnown ? new Problem(405, `${path} does not take ${method}`) : new Problem(404, 'There is no such path; see /openapi.json');
  }

  return {
    async handle(request: PizzeriaRequest): Promise<PizzeriaAnswer> {
      try {
        return await answer(request);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return refusal(error);
      }
    },
  };
}

function json(status: number, body: object, headers: Record<string, string> = {}): PizzeriaAnswer {
  return { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers }, body: JSON.stringify(body) };
}

function refusal({ status, message }: Problem): PizzeriaAnswer {
  const challenge: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const body = { title: titles[status], status, detail: message };
  return json(status, body, { 'content-type': 'application/problem+json', ...challenge });
}

function noSuchOrder(): Problem {
  return new Problem(404, 'You have no such order');
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Problem(400, 'The body is not JSON');
  }
}

function understood<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw new Problem(400, z.prettifyError(result.error));
  return result.data;
}
