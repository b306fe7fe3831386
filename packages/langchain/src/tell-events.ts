import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch/web';
import type { CallbackManagerForToolRun } from '@langchain/core/callbacks/manager';
import { patchConfig, type RunnableConfig } from '@langchain/core/runnables';
import type { CallEvent } from './tool-call.ts';

/** What is seen of a running call in LangGraph's stream (`streamMode: 'custom'`) and by callbacks (`on_custom_event`). */
export type ToolEvent = { [Type in CallEvent['type']]: Named<Type> }[CallEvent['type']];
type Named<Type> = Omit<Extract<CallEvent, { type: Type }>, 'type'> & {
  type: `toolcrib_${Type & string}`;
  /** The name the model called it by. */
  tool: string;
  /** Which of the model's calls it belongs to, where a model has called. */
  tool_call_id?: string;
};

/** What LangGraph adds to the configuration of a tool; its older versions have the writer one step deeper. */
export interface ToolRunConfig extends RunnableConfig {
  toolCall?: { id?: string };
  writer?: Writer | null;
}
type Writer = (chunk: unknown) => void;

export interface EventTeller {
  tell(event: CallEvent): void;
  /** Resolves when everybody has heard of everything. */
  told(): Promise<void>;
}

/** Undefined where nobody could hear it. */
export function createEventTeller(
  tool: string,
  config: ToolRunConfig = {},
  run: CallbackManagerForToolRun | undefined,
): EventTeller | undefined {
  const writer = config.writer ?? (config.configurable?.['writer'] as Writer | undefined);
  if (writer === undefined && run === undefined) return undefined;
  const id = config.toolCall?.id;
  const within = run && patchConfig(config, { callbacks: run.getChild() });
  // One after another, so that they are heard in their order.
  let last: Promise<void> = Promise.resolve();
  return {
    tell({ type, ...event }) {
      const told = { type: `toolcrib_${type}`, tool, tool_call_id: id, ...event } as ToolEvent;
      try {
        writer?.(told);
      } catch {
        // Whoever listened has gone. That is no reason for the call to fail.
      }
      if (within !== undefined) last = last.then(() => dispatchCustomEvent(told.type, told, within)).catch(() => undefined);
    },
    told: () => last,
  };
}
