import { hash } from 'node:crypto';
import { noLimits, type CallLimits } from '../model/call-limits.ts';
import { longestPauses } from '../model/poll-pauses.ts';
import type { DiscoveredTool, Tool, ToolDefinition, ToolOverrides, ToolRecord } from '../model/tool.ts';
import type { DefinitionArchive, KeptDefinition } from './definition-archive.ts';
import { modelName } from './model-name.ts';
import type { SourceFacts } from './source-facts.ts';

/** What is stored of a tool besides its definition. */
type ToolColumns = Pick<ToolRecord, 'tool_id' | 'definition_hash' | 'state' | 'approved_hash'> & {
  /** The tool's own name within its source. */
  name: string;
  overrides: ToolOverrides;
};

interface InventoryToolInput {
  columns: ToolColumns;
  source: SourceFacts;
  definition: KeptDefinition;
  /** Bounds how many definitions are held; absent where the definition is held by others anyway. */
  archive?: DefinitionArchive;
}

/** The small part of a definition that groups and searches read, of every tool. */
type Facts = Pick<Tool, 'tags' | 'method' | 'path' | 'version' | 'execution_mode'>;

const noOverrides: ToolOverrides = {};
const noLabels = {};
const longestTitle = 500;

/**
 * [INV-5] A tool as everybody sees it: the found definition with the administrator's overrides applied. There may be a hundred thousand, so
 * everything that can be derived is derived when it is read.
 */
export class InventoryTool implements Tool {
  readonly tool_id: string;
  readonly name: string;
  readonly definition_hash: string;
  readonly approved_hash: string | null;
  readonly state: Tool['state'];
  readonly #source: SourceFacts;
  readonly #overrides: ToolOverrides;
  readonly #definition: KeptDefinition;
  readonly #archive: DefinitionArchive | undefined;
  #discovered: DiscoveredTool | undefined;
  #facts: Facts | undefined;
  #fingerprint: string | undefined;

  constructor({ columns, source, definition, archive }: InventoryToolInput) {
    const { overrides, approved_hash } = columns;
    this.tool_id = columns.tool_id;
    this.name = `${source.namespace}:${overrides.rename ?? columns.name}`;
    this.definition_hash = columns.definition_hash;
    // One text for both, as most are the same.
    this.approved_hash = approved_hash === columns.definition_hash ? columns.definition_hash : approved_hash;
    this.state = overrides.hidden === true && columns.state === 'active' ? 'hidden' : columns.state;
    this.#source = source;
    this.#overrides = Object.keys(overrides).length === 0 ? noOverrides : overrides;
    this.#definition = definition;
    this.#archive = archive;
  }

  #read(): DiscoveredTool {
    if (this.#discovered === undefined) {
      this.#discovered = this.#definition.read(this.tool_id);
      this.#archive?.held(this, this.#definition.length);
    }
    return this.#discovered;
  }

  get #shown(): Facts {
    this.#facts ??= factsOf(this.#discovered ?? this.#definition.read(this.tool_id), this.#source);
    return this.#facts;
  }

  /** Runs with the definition at hand, which is not kept afterwards: for those who read all tools once. */
  briefly<Result>(use: () => Result): Result {
    if (this.#discovered !== undefined) return use();
    this.#discovered = this.#definition.read(this.tool_id);
    try {
      void this.#shown;
      return use();
    } finally {
      this.#discovered = undefined;
    }
  }

  forget(): void {
    this.#discovered = undefined;
  }

  get model_name() {
    return modelName(this.namespace, this.name.slice(this.namespace.length + 1));
  }

  get source_id() {
    return this.#source.id;
  }

  get source_name() {
    return this.#source.name;
  }

  get namespace() {
    return this.#source.namespace;
  }

  get definition() {
    return this.#read().definition;
  }

  get title() {
    return titleOf(this.definition);
  }

  get description() {
    return this.#overrides.description ?? this.definition.description;
  }

  get tags() {
    return this.#shown.tags;
  }

  get labels() {
    return this.#overrides.labels ?? noLabels;
  }

  get method() {
    return this.#shown.method;
  }

  get path() {
    return this.#shown.path;
  }

  get version() {
    return this.#shown.version;
  }

  get execution_mode() {
    return this.#shown.execution_mode;
  }

  get durable() {
    const { execution_mode: mode } = this.#shown;
    return mode === 'async_poll' || mode === 'workflow';
  }

  get operation() {
    return this.#read().operation ?? null;
  }

  get workflow() {
    return this.#read().workflow ?? null;
  }

  get plan() {
    return this.#read().plan ?? null;
  }

  get limits(): CallLimits {
    return this.#overrides.limits ?? noLimits;
  }

  get source_limits() {
    return this.#source.limits;
  }

  /** [POLL-1] A polled operation may take as long as its polling may; each request has its own timeout. */
  get timeout_ms() {
    const { timeoutMs } = this.#source;
    if (timeoutMs === null) return null;
    const poll = this.operation?.poll ?? null;
    return timeoutMs + (poll === null ? 0 : longestPauses(poll));
  }

  get retries() {
    return this.#source.retries;
  }

  /** Without the fields that callers never see. The definition counts by its hash. */
  get fingerprint() {
    this.#fingerprint ??= hash(
      'sha256',
      JSON.stringify([
        this.tool_id,
        this.name,
        this.source_id,
        this.source_name,
        this.#overrides.description ?? null,
        Object.values(this.#shown),
        this.definition_hash,
        this.state,
      ]),
      'base64url',
    );
    return this.#fingerprint;
  }
}

function factsOf({ tags, method, path, version, execution_mode }: DiscoveredTool, source: SourceFacts): Facts {
  return {
    tags: source.sharedTags(tags),
    method: source.shared(method ?? null),
    path: path ?? null,
    version: source.shared(version ?? null),
    execution_mode,
  };
}

/** Older revisions of MCP have it among the annotations. It stays out of the definition, so that approvals remain valid. */
function titleOf({ title, annotations }: ToolDefinition): string | null {
  if (title !== undefined) return title;
  const annotated = annotations?.['title'];
  return typeof annotated === 'string' && annotated !== '' ? annotated.slice(0, longestTitle) : null;
}
