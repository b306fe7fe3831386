import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GroupInput, Matcher, PolicyInput, Selector } from '../../src/model/policy.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { adminClaims, startServerWithIssuer } from '../running-server.ts';

let parts: Awaited<ReturnType<typeof startServerWithIssuer>>;
let admin: ApiClient;
let toolNames: string[];

const groupIds = ['one', 'two', 'three'];
const policyIds = ['first', 'second', 'third'];

beforeAll(async () => {
  parts = await startServerWithIssuer();
  admin = await parts.signedIn(adminClaims);
  await admin.delete('/api/policies/users-use-builtin-tools');
  for (const id of groupIds) await admin.post('/api/groups', { id, name: id });
  for (const id of policyIds) await admin.post('/api/policies', { id, name: id });
  toolNames = (await admin.get('/api/tools?limit=1000')).json.tools.map(({ name }: { name: string }) => name);
});
afterAll(() => parts[Symbol.asyncDispose]());

// Small worlds, so that what is drawn meets: a few words as claims, a few paths, and patterns that fit some of the tools.
const word = fc.constantFrom('ops', 'dev', 'ops dev', '');
const scalar = fc.oneof(word, fc.boolean(), fc.integer({ min: 0, max: 2 }));
const claim = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.constant(null), fc.record({ role: word }));
const claims = fc.record(
  { team: claim, 'https://acme.test/team': claim, nested: fc.record({ team: claim }) },
  {
    requiredKeys: ['team'],
  },
);
const path = fc.constantFrom('team', '/team', 'nested.team', '/nested/team', ['https://acme.test/team'], 'team.role', 'constructor');

const matcher: fc.Arbitrary<Matcher> = fc.oneof(
  fc.record({
    path,
    operator: fc.constantFrom('equals' as const, 'not_equals' as const, 'contains' as const, 'not_contains' as const),
    value: scalar,
  }),
  fc.record({ path, operator: fc.constantFrom('in' as const, 'not_in' as const), value: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ path, operator: fc.constant('exists' as const) }),
  fc.record({ path, operator: fc.constant('matches' as const), value: fc.constantFrom('ops', '.*', 'o.s|dev', '[a-z ]+') }),
);

const pattern = fc.constantFrom('*', 'builtin', 'c*', '*_t*', 'time', 'text', { regex: '.*(time|tool).*' }, { regex: 'low|high' });
const selector: fc.Arbitrary<Selector> = fc.oneof(
  fc.record({ source: pattern }),
  fc.record({ name: pattern }),
  fc.record({ tags: fc.array(pattern, { minLength: 1, maxLength: 2 }) }),
  fc.record({ labels: fc.dictionary(fc.constantFrom('risk', 'team'), pattern, { minKeys: 1, maxKeys: 2 }) }),
  fc.record({ source: pattern, name: pattern }),
  fc.record({ method: pattern }),
);

const world = () => {
  const references = fc.subarray([...toolNames, toolNames[0]?.replace(':', '.') ?? ''], { maxLength: 3 });
  const group: fc.Arbitrary<Partial<GroupInput>> = fc.record({
    selectors: fc.array(selector, { maxLength: 2 }),
    include: references,
    exclude: references,
  });
  const policy: fc.Arbitrary<Partial<PolicyInput>> = fc.record({
    enabled: fc.constantFrom(true, true, true, false),
    matchers: fc.oneof({ weight: 9, arbitrary: fc.array(matcher, { minLength: 1, maxLength: 2 }) }, fc.constant<Matcher[]>([])),
    groups: fc.subarray(groupIds),
  });
  return fc.record({
    groups: fc.tuple(group, group, group),
    policies: fc.tuple(policy, policy, policy),
    hidden: fc.subarray(toolNames, { maxLength: 2 }),
    labels: fc.dictionary(fc.constantFrom('risk', 'team'), fc.constantFrom('low', 'high', 'text')),
    callers: fc.array(claims, { minLength: 2, maxLength: 4 }),
  });
};

test('[POL-3] for any policies, groups and claims, the listed tools are those that can be called, followed and explained', async () => {
  let granted = 0;
  const property = fc.asyncProperty(world(), async ({ groups, policies, hidden, labels, callers }) => {
    for (const [index, id] of groupIds.entries())
      expect((await admin.put(`/api/groups/${id}`, { name: id, ...groups[index] })).status).toBe(200);
    for (const [index, id] of policyIds.entries())
      expect((await admin.put(`/api/policies/${id}`, { name: id, ...policies[index] })).status).toBe(200);
    for (const name of hidden) await admin.patch(`/api/tools/${name}`, { hidden: true });
    await admin.patch(`/api/tools/${toolNames[1]}`, { labels });
    try {
      for (const [index, claims] of callers.entries()) {
        const caller = await parts.signedIn({ ...claims, sub: `caller-${index}` });
        const listed = await caller.listedNames();
        granted += listed.length;

        // Called without arguments: a tool that wants some refuses with 400, one that is not there for the caller with 404.
        const { json } = await caller.post('/api/bff/tools/call/batch', { calls: toolNames.map((name) => ({ name, timeout_ms: 1000 })) });
        const callable = toolNames.filter((_, at) => json.answers[at].http_status !== 404);
        expect(callable).toEqual(listed);

        await using stream = await caller.follow();
        const followed = (await stream.nextOf('tool_list')).data.tools.map(({ name }: { name: string }) => name);
        expect(followed).toEqual(listed);

        const explained = (await admin.post('/api/policies/explain', { token: caller.token, tool: toolNames[1] })).json;
        expect(explained.tools).toEqual(listed);
        expect(explained.decision.allowed).toBe(listed.includes(toolNames[1] ?? ''));
        expect(explained.policies.some((policy: { grants: boolean }) => policy.grants)).toBe(explained.decision.allowed);

        const everything = (await caller.call('builtin:search_tools', { query: 'time text tool', limit: 50 })).json;
        const found: string[] = everything?.structured_content?.tools?.map(({ name }: { name: string }) => name) ?? [];
        expect(listed).toEqual(expect.arrayContaining(found));
      }
    } finally {
      for (const name of hidden) await admin.patch(`/api/tools/${name}`, { hidden: false });
    }
  });
  await fc.assert(property, { numRuns: 40 });
  // Otherwise the worlds drawn would all be empty, and would prove nothing.
  expect(granted).toBeGreaterThan(20);
});
