import { hash, randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { definitionHash } from '../packages/toolcrib/src/inventory/definition-hash.ts';
import { toolId } from '../packages/toolcrib/src/inventory/tool-id.ts';
import type { Group, Policy } from '../packages/toolcrib/src/model/policy.ts';
import type { SourceRecord } from '../packages/toolcrib/src/model/source.ts';
import type { DiscoveredTool, ToolRecord } from '../packages/toolcrib/src/model/tool.ts';
import { openApiDefinitionSchema } from '../packages/toolcrib/src/sources/openapi/openapi-definition.ts';
import { openDatabase } from '../packages/toolcrib/src/store/open-database.ts';
import { createStore, type Store } from '../packages/toolcrib/src/store/store.ts';

/** How large each dimension is. */
export interface Size {
  tools: number;
  sources: number;
  policies: number;
  users: number;
  /** Different sets of policies that users have. */
  sets: number;
  /** Calls that are in the record already. */
  record: number;
}

/** Sets of grants are made of these many policies, each of which a user has or has not. */
const bits = 13;
const mostDepartments = 20;
export const listingRole = 'lister';
/** How many tools the listing shows. */
const listedTools = 100;

const stored = { managed_by: null, created_at: 0, updated_at: 0 };

/** The claims that decide what a user may call. */
export function grantingClaims(index: number, { policies, sets }: Size): Record<string, unknown> {
  const set = index % sets;
  return {
    department: `department-${index % Math.min(policies, mostDepartments)}`,
    bits: Array.from({ length: bits }, (_, bit) => bit).filter((bit) => set & (1 << bit)),
  };
}

/** A database as it is after years of use, written without the years. */
export async function seedGrowth(file: string, size: Size): Promise<void> {
  await using database = await openDatabase({ file });
  const store = createStore(database);
  for (let index = 0; index < size.sources; index++) await seedSource(store, index, size);
  await change(store, 'policy', 'bench', async (transaction) => {
    for (const group of groups()) await transaction.groups.insert(group);
    for (const policy of policies(size)) await transaction.policies.insert(policy);
  });
  seedRecord(file, size.record);
}

function change(store: Store, topic: 'policy' | 'source', subject: string, mutate: Parameters<Store['change']>[1]) {
  return store.change({ kind: `${topic}-created`, topic, subject, actor: 'system', before: null, after: null }, mutate);
}

function groups(): Group[] {
  const none = { description: '', include: [], exclude: [], ...stored };
  return [
    { id: 'arithmetic', name: 'Arithmetic', selectors: [{ tags: ['math'] }], ...none },
    { id: 'listed', name: 'Listed', selectors: [{ tags: ['listed'] }], ...none },
  ];
}

function policies(size: Size): Policy[] {
  const common = { description: '', enabled: true, ...stored };
  const policy = (id: string, path: string, operator: 'equals' | 'contains', value: string | number, groups: string[]): Policy => ({
    id,
    name: id,
    matchers: [{ path, operator, value }],
    groups,
    ...common,
  });
  return [
    ...Array.from({ length: size.policies }, (_, index) =>
      policy(`department-${index}`, 'department', 'equals', `department-${index}`, ['arithmetic']),
    ),
    ...Array.from({ length: bits }, (_, bit) => policy(`bit-${bit}`, 'bits', 'contains', bit, ['arithmetic', 'listed'])),
    policy('listers', 'realm_access.roles', 'contains', listingRole, ['listed']),
  ];
}

/** An OpenAPI service whose document was imported before and has not changed, so that the server takes its tools from the database. */
async function seedSource(store: Store, index: number, size: Size): Promise<void> {
  const namespace = `service-${index}`;
  const text = JSON.stringify({ openapi: '3.1.0', info: { title: namespace, version: '1.0.0' }, paths: {} });
  const sha256 = hash('sha256', text, 'hex');
  const definition = openApiDefinitionSchema.parse({ document: { stored: sha256 }, server_url: 'http://127.0.0.1:9', origins: [] });
  const source: SourceRecord = {
    id: randomUUID(),
    name: namespace,
    namespace,
    source_type: 'openapi',
    enabled: true,
    definition,
    ...stored,
  };
  const [first, last] = [index, index + 1].map((place) => Math.round((place * size.tools) / size.sources));
  const every = Math.max(1, Math.floor(size.tools / listedTools));
  const tools: ToolRecord[] = [];
  for (let place = first ?? 0; place < (last ?? 0); place++) tools.push(toolRecord(source.id, place, place % every === 0));
  const report = {
    format: '3.1.0',
    operations: tools.length,
    tools: tools.length,
    skipped: [],
    skipped_total: 0,
    warnings: [],
    warnings_total: 0,
    bytes: text.length,
    tokens: 0,
    advice: null,
    servers: [],
    security: [],
    external_refs: [],
  };
  const fingerprint = hash('sha256', JSON.stringify(definition), 'hex');
  const imported = { importer: 1, definition: fingerprint, title: namespace, version: '1.0.0', report };
  await change(store, 'source', source.id, async (transaction) => {
    await transaction.sources.upsert(source);
    await transaction.tools.upsertMany(tools);
    await transaction.documents.begin(source.id, text, 0);
    await transaction.documents.remember(source.id, { sha256, origins: null, imported }, { since: 0, definedAt: 0, now: 1 });
  });
}

/** About as large as a tool of a real service, and different from every other. */
function toolRecord(sourceId: string, index: number, isListed: boolean): ToolRecord {
  const [noun, verb] = [nouns[index % nouns.length], verbs[Math.floor(index / nouns.length) % verbs.length]];
  const name = `${verb}_${noun}_${index}`;
  const discovered: DiscoveredTool = {
    definition: {
      name,
      title: `${verb} ${noun} ${index}`,
      description: `Use it to ${verb} each ${noun} of kind ${index} by its name and the time when it was last changed, newest first.`,
      input_schema: {
        type: 'object',
        properties: {
          [`${noun}_name`]: { type: 'string', description: `Part of the name of the ${noun}, in any case` },
          changed_after: { type: 'string', description: 'Only those changed after this moment, as an ISO 8601 time' },
          limit: { type: 'integer', minimum: 1, maximum: 100 + (index % 900), description: `How many of each ${noun} to return at most` },
        },
        required: [`${noun}_name`],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true },
    },
    tags: isListed ? [`${noun}s`, 'listed'] : [`${noun}s`],
    version: '1.0.0',
    execution_mode: 'sync_http',
  };
  const definition_hash = definitionHash(discovered.definition);
  const pinned = { definition_hash, state: 'active', approved_hash: definition_hash, approved: null, overrides: {} } as const;
  return { tool_id: toolId(sourceId, name), source_id: sourceId, discovered, ...pinned, created_at: 0, updated_at: 0 };
}

const nouns =
  'invoice customer ticket order parcel contract meeting document device employee budget product campaign refund shipment account branch journey patient lesson recipe vehicle sensor warrant'.split(
    ' ',
  );
const verbs = 'find list count archive export review assign close'.split(' ');

/** Past calls, as they were recorded before there were chains. */
function seedRecord(file: string, rows: number): void {
  if (rows === 0) return;
  using database = new DatabaseSync(file);
  database.exec('pragma synchronous = off');
  database
    .prepare(
      `insert into calls (call_id, started_at, duration_us, issuer, subject, tool, policies, policy_revision, status)
       with recursive counted(n) as (select 1 union all select n + 1 from counted where n < ?)
       select printf('%08x-%04x-7000-8000-%012x', n / 65536, n % 65536, n), ? + n, 500, 'https://issuer.example', 'user-' || (n % 1000),
         'service-0:find_invoice_' || (n % 100), 'department-1', 1, 'completed' from counted`,
    )
    .run(rows, Date.now() - rows);
}
