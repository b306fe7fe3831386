import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch/web';
import type { CallbackManagerForToolRun } from '@langchain/core/callbacks/manager';
import { patchConfig, type RunnableConfig } from '@langchain/core/runnables';
import type { CallEvent } from './tool-call.ts';

/** An event of a running call, in LangGraph's stream (`streamMode: 'custom'`) and for callbacks (`on_custom_event`). */
export type ToolEvent = { [Type in CallEvent['type']]: Named<Type> }[CallEvent['type']];
type Named<Type> = Omit<Extract<CallEvent, { type: Type }>, 'type'> & {
  type: `toolcrib_${Type & string}`;
  /** The name by which the model called the tool. */
  tool: string;
  /** The id of the model's tool call; absent if no model made the call. */
  tool_call_id?: string;
};

/** The fields that LangGraph adds to the config of a tool; older versions have the writer in `configurable`. */
export interface ToolRunConfig extends RunnableConfig {
  toolCall?: { id?: string };
  writer?: Writer | null;
}
type Writer = (chunk: unknown) => void;

export interface EventTeller {
  tell(event: CallEvent): void;
  /** Resolves when all events are delivered. */
  told(): Promise<void>;
}

/** Undefined if nobody listens. */
export function createEventTeller(
  tool: string,
  config: ToolRunConfig = {},
  run: CallbackManagerForToolRun | undefined,
): EventTeller | undefined {
  const writer = config.writer ?? (config.configurable?.['writer'] as Writer | undefined);
  if (writer === undefined && run === undefined) return undefined;
  const id = config.toolCall?.id;
  const within = run && patchConfig(config, { callbacks: run.getChild() });
  // One after another, so that events arrive in order.
  let last: Promise<void> = Promise.resolve();
  return {
    tell({ type, ...event }) {
      const told = { type: `toolcrib_${type}`, tool, tool_call_id: id, ...event } as ToolEvent;
      try {
        writer?.(told);
      } catch {
        // A listener that is gone must not fail the call.
      }
      if (within !== undefined) last = last.then(() => dispatchCustomEvent(told.type, told, within)).catch(() => undefined);
    },
    told: () => last,
  };
}
