import { hash } from 'node:crypto';
import type { Policy } from '../model/policy.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { Tool } from '../model/tool.ts';
import type { ActiveTools } from './active-tools.ts';
import type { ToolTest } from './group-membership.ts';
import type { GroupMembers } from './group-members.ts';
import type { Rules } from './rules.ts';
import { byName, changedInOrder } from './tools-in-order.ts';

/** [POL-3] Why a tool is allowed: the ids of the policies that grant it, separated by spaces. */
export interface Permission {
  readonly tool: Tool;
  readonly policies: string;
}

/** The one decision: list, call and stream all ask here. */
interface Permissions {
  /** Undefined where the caller may not use the tool, or there is none. */
  get(toolId: string): Permission | undefined;
  has(toolId: string): boolean;
}

/** Exactly what one caller may list and call. Callers with the same grants share one object. */
export interface Access {
  /** Decided tool by tool, always by the rules and tools of this moment. */
  readonly permissions: Permissions;
  /** All tools that are permitted, in the order they are listed. Made when first read, and the same array until this list changes. */
  readonly tools: readonly Tool[];
  /** Changes when anything this caller's list shows changes. */
  readonly fingerprint: string;
  readonly revision: number;
}

interface Granting {
  readonly policy: Policy;
  readonly groups: readonly { id: string; belongs: ToolTest }[];
}

interface List {
  readonly version: number;
  readonly tools: readonly Tool[];
  fingerprint?: string;
}

interface GrantSetInput {
  key: string;
  tools: ActiveTools;
  members: GroupMembers;
  /** Called when the list is read, with the bytes that it and the rest of the set take. */
  onRead(set: GrantSet, bytes: number): void;
}

/** How many decisions are remembered for each set: a caller uses few tools, and deciding again is cheap. */
const mostDecided = 500;
const ownBytes = 2000;
/** In the list, and for searches in it. */
const bytesPerTool = 16;

/** What callers with the same policies may use. Decisions are made when a call needs them, and the list when it is read. */
export class GrantSet implements Permissions {
  /** The ids of the policies. */
  readonly key: string;
  bytes: number;
  readonly #input: GrantSetInput;
  readonly #decided = new RecentMap<Permission>(mostDecided);
  #rules: Rules | undefined;
  #granting: readonly Granting[] = [];
  #list: List | undefined;
  #access: ListedAccess | undefined;

  constructor(input: GrantSetInput) {
    this.#input = input;
    this.key = input.key;
    this.bytes = ownBytes + input.key.length;
  }

  /** One object until something changes, whatever that is: who holds an older one can compare the two. */
  get access(): Access {
    const { version } = this.#input.tools;
    const { revision = 0 } = this.#rules ?? {};
    if (this.#access?.version !== version || this.#access.revision !== revision) this.#access = new ListedAccess(this, version, revision);
    return this.#access;
  }

  /** These rules grant these policies, which have the ids of this set. */
  follow(rules: Rules, granted: readonly Policy[]): void {
    if (this.#rules === rules) return;
    const granting = granted.map((policy) => ({
      policy,
      groups: policy.groups.flatMap((id) => {
        const belongs = rules.groups.get(id);
        return belongs === undefined ? [] : [{ id, belongs }];
      }),
    }));
    if (!isSame(this.#granting, granting)) {
      this.#decided.clear();
      this.#list = undefined;
    }
    this.#granting = granting;
    this.#rules = rules;
  }

  get(toolId: string): Permission | undefined {
    const tool = this.#input.tools.get(toolId);
    if (tool === undefined) return undefined;
    const known = this.#decided.get(toolId);
    // A changed tool is another object, so that nothing is ever decided by an earlier one.
    if (known?.tool === tool) return known;
    const policies = this.#granting.filter(({ groups }) => groups.some(({ belongs }) => belongs(tool))).map(({ policy }) => policy.id);
    if (policies.length === 0) return undefined;
    const permission = { tool, policies: policies.join(' ') };
    this.#decided.set(toolId, permission);
    return permission;
  }

  has(toolId: string): boolean {
    return this.get(toolId) !== undefined;
  }

  /** The list of this moment. */
  list(): List {
    const { tools } = this.#input;
    const before = this.#list;
    if (before?.version === tools.version) return before;
    const listed = this.#listAfter(before);
    const list =
      listed === before?.tools ? { ...before, version: tools.version, tools: listed } : { version: tools.version, tools: listed };
    this.#list = list;
    return list;
  }

  /** Notes that somebody read a list of so many tools. */
  read(length: number): void {
    this.#input.onRead(this, ownBytes + this.key.length + length * bytesPerTool);
  }

  /** Frees what can be made again. Who holds the access keeps it. */
  forget(): void {
    this.#decided.clear();
    this.#list = undefined;
    this.#access = undefined;
    this.bytes = ownBytes + this.key.length;
  }

  #listAfter(before: List | undefined): readonly Tool[] {
    const change = before && this.#input.tools.since(before.version);
    if (before === undefined || change === undefined) return this.#listAfresh();
    const permits = (tool: Tool) => this.#granting.some(({ groups }) => groups.some(({ belongs }) => belongs(tool)));
    return changedInOrder(before.tools, {
      removed: new Set([...change.removed].filter(permits)),
      added: new Set([...change.added].filter(permits)),
    });
  }

  #listAfresh(): readonly Tool[] {
    const { tools, members } = this.#input;
    const groups = new Map(this.#granting.flatMap(({ groups }) => groups.map(({ id, belongs }) => [id, belongs] as const)));
    const found = new Set<Tool>();
    for (const [id, belongs] of groups) for (const tool of members.of(id, belongs)) found.add(tool);
    // Sorting a few is cheaper than walking through all tools, which are in order already.
    if (found.size * Math.log2(found.size + 1) < tools.size) return [...found].sort(byName);
    return tools.inOrder.filter((tool) => found.has(tool));
  }
}

function isSame(before: readonly Granting[], after: readonly Granting[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ groups }, index) => {
      const others = after[index]?.groups ?? [];
      return groups.length === others.length && groups.every(({ belongs }, place) => belongs === others[place]?.belongs);
    })
  );
}

/** The access of one moment: its list, once read, stays as it is. */
class ListedAccess implements Access {
  readonly permissions: Permissions;
  readonly version: number;
  readonly revision: number;
  readonly #set: GrantSet;
  #list: List | undefined;

  constructor(set: GrantSet, version: number, revision: number) {
    this.permissions = set;
    this.#set = set;
    this.version = version;
    this.revision = revision;
  }

  get tools(): readonly Tool[] {
    return this.#read().tools;
  }

  get fingerprint(): string {
    const list = this.#read();
    list.fingerprint ??= fingerprintOf(list.tools);
    return list.fingerprint;
  }

  #read(): List {
    this.#list ??= this.#set.list();
    this.#set.read(this.#list.tools.length);
    return this.#list;
  }
}

function fingerprintOf(tools: readonly Tool[]): string {
  return hash('sha256', tools.map((tool) => tool.fingerprint).join('\n'), 'base64url').slice(0, 22);
}
