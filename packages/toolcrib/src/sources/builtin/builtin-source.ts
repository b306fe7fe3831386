import { setTimeout as sleep } from 'node:timers/promises';
import { CribError } from '../../model/crib-error.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { Source } from '../source.ts';
import type { BuiltinParts, Clock } from './builtin-tool.ts';
import { builtinTools } from './builtin-tools.ts';
import { createComputePool } from './compute/compute-pool.ts';
import type { ToolCatalogue } from './tool-catalogue.ts';

export interface BuiltinSource extends Source {
  /** Known without asking anybody. */
  readonly tools: DiscoveredTool[];
}

export interface BuiltinSourceOptions {
  catalogue: ToolCatalogue;
  /** The version of this package, shown with each tool. */
  version?: string;
  clock?: Clock;
}

const systemClock: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal }) };

const toolsByName = new Map(builtinTools.map((tool) => [tool.definition.name, tool]));

/** [BI-1] [BI-2] The tools that come with Toolcrib itself; they need no network and no set-up. */
export function createBuiltinSource({ catalogue, version, clock = systemClock }: BuiltinSourceOptions): BuiltinSource {
  const closing = new AbortController();
  const compute = createComputePool();
  const parts: BuiltinParts = { catalogue, compute, clock, closing: closing.signal };

  return {
    tools: builtinTools.map(({ definition, tags }) => ({ definition, tags: [...tags], version, execution_mode: 'builtin' })),

    // Not async: a cheap tool's answer must not cost its caller a turn of the event loop.
    call(tool, args, context) {
      const builtin = toolsByName.get(tool.definition.name);
      if (!builtin) throw new CribError('NOT_FOUND', `There is no built-in tool named ${JSON.stringify(tool.definition.name)}.`);
      return builtin.run(args, context, parts, tool);
    },

    async close() {
      const message = 'The built-in tools are shutting down; call again once the server is back.';
      closing.abort(new CribError('SERVICE_UNAVAILABLE', message, { origin: 'gateway' }));
      await compute.close();
    },
  };
}
