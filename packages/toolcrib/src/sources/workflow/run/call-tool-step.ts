import { hash } from 'node:crypto';
import type { Steps } from '../../../durable/steps.ts';
import { UnknownOutcomeError } from '../../../durable/unknown-outcome-error.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { PlannedStep, PlannedToolCall } from '../../../model/workflow-plan.ts';
import type { CallContext } from '../../source.ts';
import type { CallTool } from '../../source-ports.ts';
import type { Exchange } from '../expression/evaluate-expression.ts';
import { exchangeOf, readsBody, readsRedirect, refusedAnswer, stepAnswerOf, type StepAnswer } from './step-answer.ts';

interface ToolStep {
  step: PlannedStep;
  call: PlannedToolCall;
  name: string;
  made: { args: JsonObject; body: Json | undefined };
}

/** [WF-2] Calls the tool of a step once: the outcome is stored, even if the call was refused. */
export async function callToolStep(
  { step, call, name, made }: ToolStep,
  { steps, callTool, context }: { steps: Steps; callTool: CallTool; context: CallContext },
): Promise<{ answer: StepAnswer; exchange: Exchange }> {
  const key = call.key_argument === null ? {} : { [call.key_argument]: keyOf(context.callId, name) };
  const args = { ...made.args, ...key };
  const work = async (): Promise<StepAnswer> =>
    stepAnswerOf(
      await callTool({ tool: call.tool_id, arguments: args, step: name, keepsRedirects: readsRedirect(step) }, context),
      readsBody(step),
    );
  let answer: StepAnswer;
  try {
    answer = await steps.run(name, { repeatable: call.repeatable }, work);
  } catch (error) {
    if (!(error instanceof CribError) || error instanceof UnknownOutcomeError) throw error;
    answer = refusedAnswer(error);
  }
  return { answer, exchange: exchangeOf(call, step, { args, body: made.body, answer }) };
}

/** The idempotency key: the same when the call is resumed, but new for each retry, because a retry is meant to take effect again. */
function keyOf(callId: string, name: string): string {
  return hash('sha256', `${callId}\n${name}`, 'hex').slice(0, 32);
}
