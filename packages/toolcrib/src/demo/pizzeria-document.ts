import { prices } from './pizzeria.ts';

const problem = (description: string) => ({ description, content: { 'application/problem+json': { schema: ref('Problem') } } });
const answer = (description: string, schema: object) => ({ description, content: { 'application/json': { schema } } });
const refused = { 400: problem('The request is not valid'), 401: problem('The token is missing, or not valid for the pizzeria') };
const id = { name: 'id', in: 'path', required: true, description: 'The id of the order', schema: { type: 'string' } };
const text = { type: 'string' };

/** [OAS-1] The OpenAPI document of the pizzeria at `url`. */
export function pizzeriaDocument(url: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pizzeria',
      version: '1.0.0',
      description: 'A made-up pizzeria. Nothing here is real, and nobody is hungry afterwards.',
    },
    servers: [{ url }],
    security: [{ token: [] }],
    tags: [{ name: 'menu' }, { name: 'orders' }],
    paths: {
      '/menu': {
        get: {
          operationId: 'get_menu',
          tags: ['menu'],
          description: 'Lists the pizzas and their prices. Needs no token.',
          security: [],
          responses: { 200: answer('The menu', ref('Menu')) },
        },
      },
      '/orders': {
        get: {
          operationId: 'list_orders',
          tags: ['orders'],
          description: 'Lists the orders of the caller, the oldest first.',
          parameters: [
            { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50, default: 20 } },
            { name: 'cursor', in: 'query', description: 'next_cursor of the previous page', schema: text },
          ],
          responses: { 200: answer('One page', ref('OrderPage')), ...refused },
        },
        post: {
          operationId: 'place_order',
          tags: ['orders'],
          description: 'Orders pizza in the name of the caller. The order takes a while to be ready.',
          parameters: [
            {
              name: 'Idempotency-Key',
              in: 'header',
              description: 'A repeated request with the same key returns the same order',
              schema: { type: 'string', minLength: 1, maxLength: 100 },
            },
          ],
          requestBody: { required: true, content: { 'application/json': { schema: ref('Wish') } } },
          responses: {
            202: {
              ...answer('The kitchen has the order', ref('Order')),
              headers: { Location: { description: 'The address of the order', schema: text } },
            },
            ...refused,
            403: problem('The caller may not order'),
            422: problem('The key was used for another order'),
          },
        },
      },
      '/orders/{id}': {
        parameters: [id],
        get: {
          operationId: 'get_order',
          tags: ['orders'],
          description: 'Returns an order of the caller with its status.',
          responses: { 200: answer('The order', ref('Order')), ...refused, 404: problem('The caller has no such order') },
        },
        delete: {
          operationId: 'cancel_order',
          tags: ['orders'],
          description: 'Cancels an order that is not ready yet.',
          responses: {
            204: { description: 'The order is cancelled' },
            ...refused,
            404: problem('The caller has no such order'),
            409: problem('The order is ready already'),
          },
        },
      },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Wish: wish, Order: order, OrderPage: page, Menu: menu, Problem: problemSchema },
    },
  };
}

function ref(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

const pizza = { type: 'string', enum: Object.keys(prices), description: 'A pizza from the menu' };
const count = { type: 'integer', minimum: 1, maximum: 20, default: 1 };

const wish = {
  type: 'object',
  properties: {
    pizza,
    count,
    bake: { type: 'string', enum: ['normal', 'dark'], default: 'normal', description: 'How long to bake; dark burns the pizza' },
  },
  required: ['pizza'],
  additionalProperties: false,
};

const order = {
  type: 'object',
  properties: {
    id: text,
    status: { type: 'string', enum: ['received', 'baking', 'ready', 'burnt', 'cancelled'] },
    pizza,
    count,
    price: { type: 'number', description: 'In EUR' },
    customer: text,
    placed_at: { type: 'string', format: 'date-time' },
    message: text,
  },
  required: ['id', 'status', 'pizza', 'count', 'price', 'customer', 'placed_at', 'message'],
};

const page = {
  type: 'object',
  properties: { orders: { type: 'array', items: ref('Order') }, next_cursor: { type: ['string', 'null'] } },
  required: ['orders', 'next_cursor'],
};

const menu = {
  type: 'object',
  properties: {
    pizzas: {
      type: 'array',
      items: { type: 'object', properties: { pizza, price: { type: 'number' } }, required: ['pizza', 'price'] },
    },
    currency: text,
  },
  required: ['pizzas', 'currency'],
};

const problemSchema = {
  type: 'object',
  properties: { title: text, status: { type: 'integer' }, detail: text },
  required: ['title', 'status', 'detail'],
};
