import { expect, test } from 'vitest';
import { toolChoice } from '../../src/inventory/tool-choice.ts';
import { toolChoiceSchema } from '../../src/model/tool-choice.ts';
import type { DiscoveredTool } from '../../src/model/tool.ts';

const tool = (name: string, more: Partial<DiscoveredTool> = {}): DiscoveredTool => ({
  definition: { name, description: '', input_schema: { type: 'object' } },
  tags: [],
  execution_mode: 'sync_http',
  ...more,
});
const tools = [
  tool('list_users', { tags: ['users', 'reading'], method: 'GET', path: '/users' }),
  tool('get_user', { tags: ['users', 'reading'], method: 'GET', path: '/users/{id}' }),
  tool('delete_user', { tags: ['users'], method: 'DELETE', path: '/users/{id}' }),
  tool('list_orders', { tags: ['orders'], method: 'GET', path: '/orders' }),
  tool('echo'),
];
const all = tools.map(({ definition }) => definition.name);

const cases: [choice: object, names: string[]][] = [
  [{}, all],
  [{ include: ['list_*'] }, ['list_users', 'list_orders']],
  [{ exclude: ['*user*'] }, ['list_orders', 'echo']],
  [{ include: [{ tags: ['users'] }] }, ['list_users', 'get_user', 'delete_user']],
  [{ include: [{ tags: ['orders', 'read*'] }] }, ['list_users', 'get_user', 'list_orders']],
  [{ include: [{ tags: ['users'], methods: ['get'] }] }, ['list_users', 'get_user']],
  [{ include: [{ paths: ['/users/*'] }] }, ['get_user', 'delete_user']],
  [{ include: [{ name: '*_user', methods: ['GET'] }] }, ['get_user']],
  [{ include: [{ methods: ['*'] }] }, all.slice(0, 4)],
  [{ include: ['echo', { tags: ['orders'] }] }, ['list_orders', 'echo']],
  [{ include: [{ tags: ['users'] }], exclude: [{ methods: ['DELETE'] }, 'list_*'] }, ['get_user']],
  [{ include: ['nothing'] }, []],
];

test.each(cases)('[INV-5] the choice %j selects the right tools', (choice, names) => {
  const chosen = tools.filter(toolChoice(toolChoiceSchema.parse(choice)));
  expect(chosen.map(({ definition }) => definition.name)).toEqual(names);
});

test.each([{ include: [{}] }, { include: [{ tags: [] }] }, { include: [{ tag: ['users'] }] }, { exclude: [7] }])(
  '[INV-5] the empty or unknown choice %j is refused',
  (choice) => {
    expect(toolChoiceSchema.safeParse(choice).success).toBe(false);
  },
);
