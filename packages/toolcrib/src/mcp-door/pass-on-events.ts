import type { CallEvent, RunningCall } from '../execution/running-call.ts';
import type { JsonObject } from '../model/json.ts';
import { logLevels, type DoorExchange } from './door-exchange.ts';

type Progress = Extract<CallEvent, { type: 'progress' }>;
type Log = Extract<CallEvent, { type: 'log' }>;

export function tellProgress({ progressToken, notify }: DoorExchange, { type: _type, ...update }: Progress): void {
  if (progressToken !== undefined) notify('notifications/progress', { progressToken, ...update });
}

export function tellLog({ logLevel, notify }: DoorExchange, { level, data }: Log): void {
  if (logLevel === undefined || logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
  notify('notifications/message', { level, data });
}

/** [DOOR-5] Passes on what a call tells while it runs. A client that cannot be asked declines. */
export function passOnEvents(call: RunningCall, exchange: DoorExchange): void {
  async function ask(request: JsonObject): Promise<JsonObject> {
    if (!exchange.caller.abilities.elicitation) return { action: 'decline' };
    try {
      return await exchange.ask('elicitation/create', request);
    } catch {
      // Nobody has refused.
      return { action: 'cancel' };
    }
  }
  call.onEvent = (event) => {
    if (event.type === 'progress') tellProgress(exchange, event);
    else if (event.type === 'log') tellLog(exchange, event);
    else void ask(event.request).then((answer) => call.answer(event.elicitation_id, answer));
  };
}
