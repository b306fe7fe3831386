import { noLimits, type CallLimits } from '../model/call-limits.ts';
import type { Principal } from '../model/principal.ts';
import type { BreakerState } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import { createBreakers, type BreakerPass, type Outcome } from '../resilience/breakers.ts';
import { createGate, type Gate, type Limits } from '../resilience/gate.ts';
import { createSlots, type Slots, type Waiting } from '../resilience/slots.ts';

/** One call's way past the limits of its tool, then of its source. */
export interface Turn {
  /** Resolves when the call may run; undefined where it may at once. */
  readonly ready: Promise<void> | undefined;
  /** Right before the source is asked. Throws where a breaker has opened while the call waited. */
  begin(): void;
  /** How it went; the first word counts. */
  end(outcome: Outcome): void;
  /** Gives everything back, wherever the call was on its way. */
  leave(): void;
}

export interface Turns {
  /** Throws where a call of this tool would be refused; takes nothing. */
  check(tool: Tool): void;
  /** To be called right after `check`. Undefined where there is nothing to hold to. */
  take(tool: Tool, principal: Principal): Turn | undefined;
  /** How many calls wait for a place. */
  readonly waiting: number;
  /** By source id, or tool id where a tool has a breaker of its own. */
  breakerOf(key: string): BreakerState;
  disturbed(): [key: string, state: BreakerState][];
  forget(key: string): void;
}

interface Stage {
  key: string;
  name: string;
  limits: CallLimits;
  /** How many at once is counted where they can wait for it. */
  rate: Limits;
  gate: Gate;
  slots: Slots;
}

/** [EXEC-7] What one tool and one source may take, over all callers. Only asked about tools that have limits, or whose source has. */
export function createTurns({ now }: { now?: () => number } = {}): Turns {
  const tools = { gate: createGate({ who: 'This tool', now }), slots: createSlots({ who: 'This tool' }) };
  const sources = { gate: createGate({ who: 'The source of this tool', now }), slots: createSlots({ who: 'The source of this tool' }) };
  const breakers = createBreakers({ now });

  /** A changed tool is another object, so its stages hold as long as it does. */
  const known = new WeakMap<Tool, readonly Stage[]>();

  /** The tool's first: a call that waits there takes nothing from the other tools of the source. */
  function stagesOf(tool: Tool): readonly Stage[] {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const stages: Stage[] = [];
    const { tool_id, source_id, name, namespace, limits: own, source_limits: all } = tool;
    if (own !== noLimits) stages.push({ key: tool_id, name, limits: own, rate: rateOf(own), ...tools });
    if (all !== noLimits) stages.push({ key: source_id, name: namespace, limits: all, rate: rateOf(all), ...sources });
    known.set(tool, stages);
    return stages;
  }

  function turnThrough(stages: readonly Stage[], caller: string): Turn {
    let passed = 0;
    let waiting: Waiting | undefined;
    let left = false;
    let passes: BreakerPass[] = [];

    function advance(): Promise<void> | undefined {
      for (; passed < stages.length; passed++) {
        const { slots, key, limits } = stages[passed] as Stage;
        waiting = slots.take(key, limits, caller);
        if (waiting !== undefined) return waiting.ready.then(onPlace);
      }
      return undefined;
    }

    function onPlace(): Promise<void> | undefined {
      // A call that left in the same moment has given the place back.
      if (left) return undefined;
      waiting = undefined;
      passed++;
      return advance();
    }

    function end(outcome: Outcome): void {
      const ended = passes;
      passes = [];
      for (const pass of ended) pass.end(outcome);
    }

    return {
      ready: advance(),
      begin() {
        try {
          for (const { key, limits, name } of stages) {
            const pass = breakers.enter(key, limits.breaker, name);
            if (pass !== undefined) passes.push(pass);
          }
        } catch (error) {
          end({ kind: 'nothing' });
          throw error;
        }
      },
      end,
      leave() {
        if (left) return;
        left = true;
        end({ kind: 'nothing' });
        waiting?.giveUp();
        for (const { slots, key, limits } of stages.slice(0, passed)) if (limits.concurrency !== undefined) slots.leave(key);
      },
    };
  }

  return {
    check(tool) {
      for (const { key, name, limits, rate, gate, slots } of stagesOf(tool)) {
        breakers.check(key, limits.breaker, name);
        slots.check(key, limits);
        gate.check(key, rate);
      }
    },
    take(tool, { key: caller }) {
      const stages = stagesOf(tool);
      if (stages.length === 0) return undefined;
      for (const { key, rate, gate } of stages) {
        gate.enter(key, rate);
        gate.leave(key, rate);
      }
      return turnThrough(stages, caller);
    },
    get waiting() {
      return tools.slots.waiting + sources.slots.waiting;
    },
    breakerOf: breakers.stateOf,
    disturbed: breakers.disturbed,
    forget: breakers.forget,
  };
}

function rateOf({ rate_per_second, burst }: CallLimits): Limits {
  return { rate_per_second, burst };
}
