import type { CallEvent, RunningCall } from '../execution/running-call.ts';
import { abilityFor, capabilitiesOf } from './door-caller.ts';
import { logLevels, type DoorExchange } from './door-exchange.ts';

type Progress = Extract<CallEvent, { type: 'progress' }>;
type Log = Extract<CallEvent, { type: 'log' }>;

type Told = Pick<DoorExchange, 'progressToken' | 'logLevel' | 'notify'>;

export function tellProgress({ progressToken, notify }: Told, { type: _type, ...update }: Progress): void {
  if (progressToken !== undefined) notify('notifications/progress', { progressToken, ...update });
}

export function tellLog({ logLevel, notify }: Told, { level, data }: Log): void {
  if (logLevel === undefined || logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
  notify('notifications/message', { level, data });
}

/** [DOOR-5] Passes on what a call tells and asks while it runs. */
export function passOnEvents(call: RunningCall, exchange: DoorExchange): void {
  const { abilities } = exchange.caller;
  call.clientCapabilities = capabilitiesOf(abilities);
  call.onAsk = async (method, params) => {
    const isForm = method === 'elicitation/create';
    const ability = abilityFor[method];
    if (ability === undefined || !abilities[ability]) {
      if (isForm) return { action: 'decline' };
      throw new Error(`The client does not offer ${method}`);
    }
    try {
      return await exchange.ask(method, params);
    } catch (error) {
      // Nobody has refused.
      if (isForm) return { action: 'cancel' };
      throw error;
    }
  };
  call.onEvent = (event) => {
    if (event.type === 'progress') tellProgress(exchange, event);
    else if (event.type === 'log') tellLog(exchange, event);
  };
}
