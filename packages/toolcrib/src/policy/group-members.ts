import type { Tool } from '../model/tool.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { ActiveTools } from './active-tools.ts';
import type { ToolTest } from './group-membership.ts';

/** Bounds what is kept: a member costs about this many bytes in its set. */
const bytesPerMember = 40;
const mostBytes = 32_000_000;

interface Members {
  readonly belongs: ToolTest;
  tools: Set<Tool>;
  version: number;
}

/** The members of each group that some list needed, brought up to date with the tools when they are asked for. */
export class GroupMembers {
  readonly #tools: ActiveTools;
  readonly #byGroup = new RecentMap<Members>(mostBytes, ({ tools }) => 200 + tools.size * bytesPerMember);

  constructor(tools: ActiveTools) {
    this.#tools = tools;
  }

  of(groupId: string, belongs: ToolTest): ReadonlySet<Tool> {
    const known = this.#byGroup.get(groupId);
    const isSameGroup = known?.belongs === belongs;
    if (isSameGroup && known.version === this.#tools.version) return known.tools;
    const change = isSameGroup ? this.#tools.since(known.version) : undefined;
    this.#byGroup.delete(groupId);
    let tools: Set<Tool>;
    if (known === undefined || change === undefined) tools = new Set([...this.#tools].filter(belongs));
    else {
      ({ tools } = known);
      for (const tool of change.removed) tools.delete(tool);
      for (const tool of change.added) if (belongs(tool)) tools.add(tool);
    }
    this.#byGroup.set(groupId, { belongs, tools, version: this.#tools.version });
    return tools;
  }
}
