import { definitionHash } from '../packages/toolcrib/src/inventory/definition-hash.ts';
import { toolId } from '../packages/toolcrib/src/inventory/tool-id.ts';
import type { Group, Policy } from '../packages/toolcrib/src/model/policy.ts';
import type { SourceRecord } from '../packages/toolcrib/src/model/source.ts';
import type { ToolDefinition, ToolRecord } from '../packages/toolcrib/src/model/tool.ts';
import { openDatabase } from '../packages/toolcrib/src/store/open-database.ts';
import { createStore, type Store } from '../packages/toolcrib/src/store/store.ts';
import { departments, listingRole, userRole } from './users.ts';

export type DatabasePlace = { file: string } | { url: string };

interface SeedOptions {
  tools?: number;
  visible?: number;
  sources?: SourceRecord[];
}

const sourceId = '00000000-0000-4000-8000-00000000be4c';
const stored = { managed_by: null, created_at: 0, updated_at: 0 };

/** Sets up what administrators would have: policies that decide, and many tools if requested. */
export async function seed(place: DatabasePlace, { tools = 0, visible = 0, sources = [] }: SeedOptions): Promise<void> {
  await using database = await openDatabase(place);
  const store = createStore(database);
  if (tools > 0) await seedTools(store, tools, visible);
  for (const source of sources) {
    const created = { kind: 'source-created', topic: 'source', subject: source.id, actor: 'system', before: null, after: null } as const;
    await store.change(created, (transaction) => transaction.sources.upsert(source));
  }
  const change = { kind: 'policy-created', topic: 'policy', subject: 'bench', actor: 'system', before: null, after: null } as const;
  await store.change(change, async (transaction) => {
    for (const group of groups()) await transaction.groups.insert(group);
    for (const policy of policies()) await transaction.policies.insert(policy);
  });
}

/** How many calls the record holds, which must be exactly as many as were made. */
export async function recordedCalls(place: DatabasePlace): Promise<number> {
  await using database = await openDatabase(place);
  const { count } = await database.kysely
    .selectFrom('calls')
    .select((select) => select.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function groups(): Group[] {
  const none = { description: '', include: [], exclude: [], ...stored };
  return [
    { id: 'arithmetic', name: 'Arithmetic', selectors: [{ tags: ['math'] }, { name: 'echo' }], ...none },
    { id: 'text', name: 'Text', selectors: [{ name: 'text_*' }], ...none },
    { id: 'visible', name: 'Visible', selectors: [{ tags: ['visible'] }], ...none },
  ];
}

/** Two per department, one of which fits each of its users, and one for the listing. */
function policies(): Policy[] {
  const common = { description: '', enabled: true, definition: null, ...stored };
  const role = (value: string) => ({ path: 'realm_access.roles', operator: 'contains' as const, value });
  const ofDepartments = departments.flatMap((department) => {
    const inDepartment = { path: 'department', operator: 'equals' as const, value: department };
    return [
      {
        id: `${department}-users`,
        name: `${department} users`,
        matchers: [inDepartment, role(userRole)],
        groups: ['arithmetic'],
        ...common,
      },
      {
        id: `${department}-heads`,
        name: `${department} heads`,
        matchers: [inDepartment, role('head')],
        groups: ['arithmetic', 'text'],
        ...common,
      },
    ];
  });
  return [...ofDepartments, { id: 'listers', name: 'Listers', matchers: [role(listingRole)], groups: ['visible'], ...common }];
}

async function seedTools(store: Store, tools: number, visible: number): Promise<void> {
  const source = {
    id: sourceId,
    name: 'Many tools',
    namespace: 'many',
    source_type: 'builtin',
    enabled: true,
    definition: null,
    ...stored,
  } as const;
  const change = { kind: 'source-created', topic: 'source', subject: sourceId, actor: 'system', before: null, after: null } as const;
  const every = Math.floor(tools / visible);
  await store.change(change, async (transaction) => {
    await transaction.sources.upsert(source);
    await transaction.tools.upsertMany(Array.from({ length: tools }, (_, index) => toolRecord(index, index % every === 0)));
  });
}

function toolRecord(index: number, isVisible: boolean): ToolRecord {
  const definition = toolDefinition(index);
  return {
    tool_id: toolId(sourceId, definition.name),
    source_id: sourceId,
    discovered: { definition, tags: isVisible ? ['records', 'visible'] : ['records'], version: '1.0.0', execution_mode: 'builtin' },
    definition_hash: definitionHash(definition),
    state: 'active',
    approved_hash: definitionHash(definition),
    approved: null,
    overrides: {},
    ...stored,
  };
}

/** About as large as a tool definition of a real server. */
function toolDefinition(index: number): ToolDefinition {
  return {
    name: `find_records_${index}`,
    title: `Find records ${index}`,
    description: `Finds records of kind ${index} by their name and the time they were last changed, newest first.`,
    input_schema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Part of the name, in any case' },
        changed_after: { type: 'string', description: 'Only those changed after this moment, as an ISO 8601 time' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many to return at most' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  };
}
