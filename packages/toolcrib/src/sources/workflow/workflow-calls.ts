import type { ToolOutput } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import { createComputePool } from '../../threads/compute/compute-pool.ts';
import type { Source } from '../source.ts';
import type { CallTool } from '../source-ports.ts';
import type { FindsAny } from './criterion.ts';
import { WorkflowRun, type Ending } from './run/run-workflow.ts';
import type { StepRecord } from './run/trail.ts';

/** [WF-1] Calls the tools that are workflows. */
export function createWorkflowCalls({ callTool }: { callTool: CallTool }): Source {
  // Threads start with the first query.
  const compute = createComputePool();

  return {
    async call(tool, args, context) {
      const { workflow: plan } = tool;
      const { steps } = context;
      if (plan === null || steps === undefined) throw new CribError('INTERNAL', `${tool.name} is not a workflow that can be run`);
      const findsAny: FindsAny = async (query, value) => {
        const work = { kind: 'json_query', data: JSON.stringify(value), query } as const;
        const outcome = await compute.run(work, context.principal.key, context.signal);
        if ('failure' in outcome) throw new CribError('VALIDATION_ERROR', `The query ${query} failed: ${outcome.failure}`);
        return (JSON.parse(outcome.structured) as { matches: unknown[] }).matches.length > 0;
      };
      const run = new WorkflowRun({ plan, context, steps, callTool, findsAny });
      return outputOf(await run.run(args), run.trail.records);
    },

    close: () => compute.close(),
  };
}

/** [EXEC-4] A workflow that ends with a failed step has failed, even if it has outputs. */
function outputOf({ outputs, failure }: Ending, records: StepRecord[]): ToolOutput {
  const metadata = { workflow: { steps: records } };
  if (failure === null) return { content: [{ type: 'text', text: JSON.stringify(outputs) }], structured_content: outputs, metadata };
  const { message, step, code, origin, status } = failure;
  const structured = {
    message,
    step,
    ...(code === null ? {} : { code }),
    ...(status === null ? {} : { upstream_status: status }),
    outputs,
  };
  const ofStep = code === null ? { origin } : { origin, code };
  return { content: [{ type: 'text', text: message }], structured_content: structured, is_error: true, failure: ofStep, metadata };
}
