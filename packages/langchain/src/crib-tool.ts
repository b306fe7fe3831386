import type { CallbackManagerForToolRun } from '@langchain/core/callbacks/manager';
import { ToolMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { Answer } from 'toolcrib';
import type { ListedTool } from 'toolcrib/api';
import { explainRefusal, failureOf } from './explain-failure.ts';
import { messageContent } from './message-content.ts';
import { createEventTeller, type ToolRunConfig } from './tell-events.ts';
import type { CallOptions, ToolCall, ToolOptions } from './tool-call.ts';
import { ToolcribError } from './toolcrib-error.ts';

/**
 * [LC-1] A tool of Toolcrib for LangChain. A call by a model always returns a message: a failed call has the status `error` and says why,
 * because some agents give up when a tool throws. A call without a model throws the error.
 */
export class CribTool extends DynamicStructuredTool<Record<string, unknown>> {
  constructor(tool: ListedTool, call: ToolCall, options: ToolOptions) {
    const { tool_id, name, title, annotations, source_name } = tool;
    const metadata = { tool_id, name, title, annotations, source_name };
    super({
      name: tool.model_name,
      description: tool.description || (title ?? name),
      schema: tool.input_schema,
      metadata,
      responseFormat: 'content_and_artifact',
      async func(args: unknown, run?: CallbackManagerForToolRun, config?: ToolRunConfig): Promise<[unknown, Answer | undefined]> {
        try {
          const answer = await callFor({ tool, call, options }, args, run, config);
          return [messageContent(answer), answer];
        } catch (error) {
          const id = config?.toolCall?.id;
          if (!(error instanceof ToolcribError) || id === undefined) throw error;
          const { message: content, answer: artifact } = error;
          const message = new ToolMessage({ status: 'error', content, artifact, tool_call_id: id, name: tool.model_name, metadata });
          return [message, artifact];
        }
      },
    });
  }

  /**
   * Toolcrib checks the arguments itself, and says what is wrong with them. LangChain's own check would come first and say only that they
   * are wrong. It also treats every schema as draft 2019-09, and runs untrusted patterns without protection.
   */
  override call(arg: never, config?: RunnableConfig, tags?: string[]): Promise<never> {
    const unchecked = Object.create(this, { schema: { value: {} } }) as this;
    return super.call.call(unchecked, arg, config, tags) as Promise<never>;
  }
}

interface Calling {
  tool: ListedTool;
  call: ToolCall;
  options: ToolOptions;
}

/** Resolves with the answer of a successful call; throws otherwise. */
async function callFor({ tool, call, options }: Calling, args: unknown, run?: CallbackManagerForToolRun, config?: ToolRunConfig) {
  const { timeoutMs, onElicitation } = options;
  const events = createEventTeller(tool.model_name, config, run);
  const calling: CallOptions = {
    signal: config?.signal,
    timeoutMs,
    onEvent: events?.tell,
    onElicitation: onElicitation && ((question) => onElicitation(question, tool)),
  };
  try {
    const answer = await call(tool, args, calling);
    if (!answer.success) throw failureOf(answer);
    return answer;
  } catch (error) {
    config?.signal?.throwIfAborted();
    throw error instanceof ToolcribError && error.answer === undefined ? explainRefusal(error, tool.model_name) : error;
  } finally {
    await events?.told();
  }
}
