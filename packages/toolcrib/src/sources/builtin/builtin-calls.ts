import { setTimeout as sleep } from 'node:timers/promises';
import { CribError } from '../../model/crib-error.ts';
import type { Source } from '../source.ts';
import type { BuiltinParts, Clock } from './builtin-tool.ts';
import { builtinTools } from './builtin-tools.ts';
import { createComputePool } from '../../threads/compute/compute-pool.ts';
import type { ToolCatalogue } from '../source-ports.ts';

export interface BuiltinCallsInput {
  catalogue: ToolCatalogue;
  clock?: Clock;
}

const systemClock: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal }) };

const toolsByName = new Map(builtinTools.map((tool) => [tool.definition.name, tool]));

/** [BI-1] [BI-2] Calls the built-in tools. */
export function createBuiltinCalls({ catalogue, clock = systemClock }: BuiltinCallsInput): Source {
  const closing = new AbortController();
  const compute = createComputePool();
  const parts: BuiltinParts = { catalogue, compute, clock, closing: closing.signal };

  return {
    // Not async, so that a cheap tool answers without a turn of the event loop.
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
