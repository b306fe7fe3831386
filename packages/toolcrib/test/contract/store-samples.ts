import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { CallRecord } from '../../src/model/call.ts';
import type { Group, Policy } from '../../src/model/policy.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import type { Refusal } from '../../src/model/refusal.ts';
import type { ToolRecord } from '../../src/model/tool.ts';
import { createAuditKeys } from '../../src/secrets/audit-keys.ts';
import { parseKeyRing } from '../../src/secrets/key-ring.ts';
import type { AnswerRow } from '../../src/store/answers.ts';
import type { Change } from '../../src/store/store.ts';

export const someTime = 1_800_000_000_000;

export function sampleSource(fields: Partial<SourceRecord<null>> = {}): SourceRecord<null> {
  const id = randomUUID();
  return {
    id,
    name: 'A source',
    namespace: `ns-${id.slice(0, 8)}`,
    source_type: 'builtin',
    enabled: true,
    definition: null,
    managed_by: null,
    created_at: someTime,
    updated_at: someTime,
    ...fields,
  };
}

export function sampleTool(sourceId: string, name: string, fields: Partial<ToolRecord> = {}): ToolRecord {
  return {
    tool_id: `tool_${randomBytes(8).toString('hex')}`,
    source_id: sourceId,
    discovered: {
      definition: {
        name,
        description: `Does ${name}`,
        input_schema: { type: 'object', properties: { city: { type: 'string' } } },
        annotations: { readOnlyHint: true },
      },
      tags: ['a', 'b'],
      method: 'GET',
      path: `/${name}`,
      execution_mode: 'sync_http',
    },
    definition_hash: 'hash-1',
    state: 'active',
    approved_hash: 'hash-1',
    approved: null,
    overrides: {},
    created_at: someTime,
    updated_at: someTime,
    ...fields,
  };
}

export function sampleGroup(fields: Partial<Group> = {}): Group {
  return {
    id: `group-${randomBytes(6).toString('hex')}`,
    name: 'Readers',
    description: 'May look',
    selectors: [{ source: 'docs', labels: { risk: { regex: 'low|none' } } }],
    include: ['docs:search'],
    exclude: ['docs:delete'],
    managed_by: 'file',
    created_at: someTime,
    updated_at: someTime,
    ...fields,
  };
}

export function samplePolicy(fields: Partial<Policy> = {}): Policy {
  return {
    id: `policy-${randomBytes(6).toString('hex')}`,
    name: 'Staff',
    description: '',
    enabled: true,
    matchers: [
      { path: 'realm_access.roles', operator: 'contains', value: 'staff' },
      { path: ['https://acme.example/level'], operator: 'in', value: [1, '1', true] },
    ],
    groups: ['readers'],
    managed_by: null,
    created_at: someTime,
    updated_at: someTime,
    ...fields,
  };
}

/** RFC 9562 §5.7, of a chosen time. */
export function callIdAt(epochMs: number): string {
  const time = epochMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

export function sampleCall(fields: Partial<CallRecord> = {}): CallRecord {
  const started_at = fields.started_at ?? someTime;
  return {
    call_id: callIdAt(started_at),
    started_at,
    duration_us: 1700,
    issuer: 'https://issuer.example',
    subject: 'alice',
    client: null,
    tool_id: 'tool_1',
    tool: 'docs:search',
    source_id: null,
    definition_hash: 'hash-1',
    policies: 'staff others',
    policy_revision: 7,
    status: 'completed',
    error_code: null,
    user_name: null,
    error_origin: null,
    door: null,
    agent: null,
    ...fields,
  };
}

export function sampleAnswer(fields: Partial<AnswerRow> = {}): AnswerRow {
  return {
    call_id: callIdAt(someTime),
    owner: 'https://issuer.example alice',
    idempotency_key: null,
    request_hash: null,
    tool_id: 'tool_1',
    tool: 'docs:search',
    deadline_at: someTime + 1000,
    created_at: someTime,
    expires_at: someTime + 60_000,
    body: null,
    begun: 1,
    bytes: 0,
    ...fields,
  };
}

export function sampleChange(fields: Partial<Change> = {}): Change {
  return { kind: 'policy-created', topic: 'policy', subject: 'staff', actor: 'system', before: null, after: { name: 'Staff' }, ...fields };
}

export function sampleRefusal(fields: Partial<Refusal> = {}): Refusal {
  const at = fields.at ?? someTime;
  return {
    id: callIdAt(at),
    at,
    kind: 'authentication',
    code: 'UNAUTHENTICATED',
    reason: 'The token has expired: get a new one',
    issuer: null,
    subject: null,
    client: null,
    address: '127.0.0.1',
    method: 'GET',
    route: '/api/bff/tools',
    request_id: 'req-1',
    count: 1,
    user_name: null,
    ...fields,
  };
}

/** The same for the same names, the newest first. */
export function sampleChainKeys(...kids: string[]): ReturnType<typeof createAuditKeys> {
  const names = kids.length === 0 ? ['k1'] : kids;
  return createAuditKeys(parseKeyRing(names.map((kid) => `${kid}:${hash('sha256', kid, 'base64')}`).join(','), 'a test'));
}
