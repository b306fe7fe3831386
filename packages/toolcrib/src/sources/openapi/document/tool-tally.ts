import type { SecurityRequirement } from '../../../model/http-operation.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { boundsOf } from './document-bounds.ts';
import { cut } from './node.ts';
import { Unusable } from './unusable.ts';

interface ToolTallyInput {
  /** Takes a tool as the JSON that it is, so that nothing is kept twice. */
  give(json: string): void;
  /** Of all schemas together. */
  mostValues?: number | undefined;
  /** [OAS-4] The credential that would serve this wish. */
  suggest(requirement: SecurityRequirement): JsonObject | null;
}

/** The tools of a document, counted and kept within bounds. */
export interface ToolTally {
  has(name: string): boolean;
  /** Throws `Unusable` where no tool of this name can be added any more. */
  check(name: string): void;
  /** Throws `Unusable` where there is no room for it. */
  add(tool: DiscoveredTool): void;
  report(): Pick<ImportReport, 'tools' | 'tokens' | 'advice' | 'servers' | 'security'>;
}

const mostTools = 20_000;
// What the gateway holds in memory for as long as the source is there. Small values take the most memory for their length.
const mostText = 64 * 1024 * 1024;
const usualMostValues = 2_000_000;
/** Above this, a list of all tools leaves a model too little room for its work. */
const manyTokens = 20_000;

export function createToolTally({ give, suggest, mostValues = usualMostValues }: ToolTallyInput): ToolTally {
  const taken = new Set<string>();
  const servers = new Set<string>();
  const schemes = new Map<string, ImportReport['security'][number]>();
  let characters = 0;
  let values = 0;
  let listed = 0;

  function count({ operation }: DiscoveredTool): void {
    if (operation === undefined) return;
    servers.add(operation.server);
    const wanted = new Map(operation.security.flat().map((requirement) => [requirement.scheme, requirement]));
    for (const requirement of wanted.values()) {
      const { scheme, type, in: place, name } = requirement;
      const known = schemes.get(scheme);
      if (known !== undefined) known.operations++;
      else schemes.set(scheme, { scheme, type, in: place, name, operations: 1, credential: suggest(requirement) });
    }
  }

  return {
    has: (name) => taken.has(name.toLowerCase()),
    check(name) {
      if (taken.size >= mostTools) throw new Unusable(`A source has at most ${mostTools} tools`);
      if (taken.has(name.toLowerCase())) throw new Unusable('It stands twice in the document');
    },
    add(tool) {
      const { name, description, input_schema } = tool.definition;
      const json = JSON.stringify(tool);
      const { nodes } = boundsOf(tool as unknown as Json, Number.POSITIVE_INFINITY, false);
      if (characters + json.length > mostText) throw new Unusable(`The tools of a source take at most ${mostText / 1024 / 1024} MiB`);
      if (values + nodes > mostValues) throw new Unusable(`The tools of a source have at most ${mostValues} values in their schemas`);
      characters += json.length;
      values += nodes;
      listed += name.length + description.length + JSON.stringify(input_schema).length;
      taken.add(name.toLowerCase());
      count(tool);
      give(json);
    },
    report() {
      const tokens = Math.ceil(listed / 4);
      const advice = tokens > manyTokens ? adviceFor(taken.size, tokens) : null;
      return { tools: taken.size, tokens, advice, servers: [...servers], security: [...schemes.values()] };
    },
  };
}

export function warnOfPolls(asyncPoll: Record<string, PollProfile>, tally: ToolTally, warn: (message: string) => void): void {
  for (const name of Object.keys(asyncPoll)) {
    if (!tally.has(name)) warn(`async_poll names ${cut(name, 200)}, and there is no tool of that name`);
  }
}

function adviceFor(tools: number, tokens: number): string {
  return `A list of all ${tools} tools is about ${tokens} tokens long. Choose some of them with tools.include (by name, tags, paths or methods), or give agents search_tools and call_tool in place of the list.`;
}
