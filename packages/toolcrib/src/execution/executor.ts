import { JobLeftError } from '../durable/job-left-error.ts';
import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import type { Answer, CallRecord } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { TraceContext } from '../model/trace-context.ts';
import { failureOf } from '../model/traced.ts';
import type { Tracer } from '../model/tracing.ts';
import type { Counter } from '../inventory/counter.ts';
import { suggestTools } from '../inventory/suggest-tools.ts';
import type { Acceptance } from './acceptance.ts';
import type { AdmittedCall } from './admitted-call.ts';
import { calledBy, unknownAnswer } from './answer.ts';
import type { ArgumentValidator } from './argument-validator.ts';
import { recordOf, refusalRecord } from './call-record.ts';
import { endCallSpan, startCallSpan } from './call-span.ts';
import { createCallTraces, type CallTracesInput } from './call-traces.ts';
import { longestTime, usualTime, type CallTimes } from './call-times.ts';
import type { DurableCalls, GoOn } from './durable-calls.ts';
import { createInvoke, type InvokeInput } from './invoke.ts';
import { createGate, type Limits } from './limits.ts';
import { noSuchTool } from './no-such-tool.ts';
import type { Recorder } from './recorder.ts';
import { resumedCall } from './resumed-call.ts';
import { RunningCall } from './running-call.ts';
import { RunningCalls } from './running-calls.ts';
import { createTurns, type Turns } from './turns.ts';
import { uuidV7 } from '../model/uuid-v7.ts';

export interface CallRequest {
  /** Tool id or name, in any of the forms of NAME-1. */
  tool: string;
  arguments: JsonObject;
  timeout_ms?: number;
  /** Of a step of another call: the same on every attempt. The limits of the caller have counted the call that it is a step of. */
  call_id?: string;
  /** Of a step that looks at redirects itself. */
  keepsRedirects?: boolean;
  /** [OPS-1] Where the caller stands in a trace of its own. */
  trace?: TraceContext | undefined;
}

export interface ExecutionLimits extends CallTimes {
  /** For every principal. */
  principal: Limits;
}

export interface Executor {
  /** Find, decide, validate: throws `CribError` when the call is refused. What is admitted must be given to `run`. */
  admit(principal: Principal, request: CallRequest): Promise<AdmittedCall>;
  /**
   * The same for the application that Toolcrib is embedded in, which decides itself who may call what: no policy is asked. What comes in
   * from outside never goes this way.
   */
  admitTrusted(principal: Principal, tool: Tool, request: Omit<CallRequest, 'tool'>): Promise<AdmittedCall>;
  /** Invoke, shape, record. Never throws for what the tool or its source did: that is in the answer. */
  run(admitted: AdmittedCall): Promise<Answer>;
  /** [POLL-2] [WF-2] Goes on with a call that was admitted before: neither limits nor rules are asked again. */
  goOn: GoOn;
  /** Gives back what `admit` took, for a call that will not be run after all. */
  dismiss(admitted: AdmittedCall): void;
  /** The call while it waits for its turn or its source, wherever it was started. */
  running(callId: string): RunningCall | undefined;
  /** Resolves when no admitted call is left; from then on none is admitted. */
  idle(): Promise<void>;
  /** Begins no further step of calls that go on elsewhere or later. */
  leaveDurable(): void;
  /** Ends every running call; their answers are still recorded. Those that go on elsewhere or later are left. */
  cancelAll(): void;
  /** [EXEC-7] Who waits, and which sources are left alone. */
  readonly load: Pick<Turns, 'waiting' | 'breakerOf' | 'disturbed' | 'forget'>;
}

interface Granted {
  tool: Tool;
  /** Ids of the policies that granted it. */
  policies: string;
  revision: number;
}

export interface ExecutorInput extends Omit<InvokeInput, 'check' | 'accepted' | 'onPending'> {
  counter: Counter;
  /** Asked before anything is begun. */
  acceptance: Acceptance;
  validator: ArgumentValidator;
  recorder: Recorder;
  limits: ExecutionLimits;
  /** [SEC-4] Where what is running is noted; without it, a server that is killed leaves no trace of it. */
  traces?: CallTracesInput;
  /** [POLL-2] [WF-2] Runs what outlives its server; without it, nothing does. */
  durableCalls?: DurableCalls | undefined;
  /** Resolves when every source has been started, or could not be. */
  sourcesReady?(): Promise<void>;
  /** [OPS-1] Where traces are wanted. */
  tracer?: Tracer | undefined;
  /** Told about every finished call, for metrics. */
  onFinished?(record: CallRecord): void;
}

/** How much of the time it has left a call waits for a record that cannot be written. */
const confirmWithinMs = 5000;

const toolIsAnother =
  'The tool was changed or taken away while the server was stopped, so that the call could not go on. It may have taken effect: look there before trying again.';

/** [EXEC-1] The one path of every call, whatever the source. */
export function createExecutor(input: ExecutorInput): Executor {
  const { counter, acceptance, validator, recorder, limits, tracer, durableCalls } = input;
  const principals = createGate({ who: 'You' });
  const turns = createTurns();
  const runningCalls = new RunningCalls();
  const traces = input.traces && createCallTraces(input.traces, runningCalls);
  const invoke = createInvoke({ ...input, check, accepted, onPending: traces?.noticed }, runningCalls);
  let admittedCalls = 0;
  let tellIdle: (() => void) | undefined;
  let stopped = false;

  /** Whether the record is durable. Where it cannot be written it is waited for that long, and kept in any case. */
  async function record(entry: CallRecord, patienceMs: number): Promise<boolean> {
    const isDurable = (await recorder.record(entry)) || (patienceMs > 0 && (await recorder.confirm(entry.call_id, patienceMs)));
    input.onFinished?.(entry);
    return isDurable;
  }

  /** A denial is recorded like a call, then thrown on. */
  async function refuse(principal: Principal, request: CallRequest, error: unknown, found?: RunningCall): Promise<never> {
    const entry = refusalRecord(principal, { asked: request.tool, error, found, revision: counter.rules.revision });
    if (await record(entry, 0)) throw error;
    throw acceptance.refusal ?? new CribError('SERVICE_UNAVAILABLE', 'The call was refused, and that could not be recorded: try again');
  }

  /**
   * [POL-5] Right before a source is asked: what was so when the call was admitted may not be any more, as it may have waited. What goes on
   * after a crash was begun before, and is not decided anew.
   */
  function check(call: RunningCall): void {
    if (call.resumed) return;
    const { refusal } = acceptance;
    if (refusal !== undefined) throw refusal;
    // No policy decides about what is trusted.
    if (call.policyRevision === counter.rules.revision || call.policies === '') return;
    if (!counter.accessOf(call.principal).permissions.has(call.tool.tool_id)) throw noSuchTool();
  }

  /** [WF-2] What goes on after a crash, and what is a step of such a call, would fail for good by a refusal: it waits. */
  function accepted(call: RunningCall): Promise<void> | undefined {
    return call.counted || acceptance.refusal === undefined ? undefined : acceptance.accepted();
  }

  const uncount = ({ key }: Principal) => principals.leave(key, limits.principal);

  function leave(call: RunningCall): void {
    admittedCalls--;
    if (admittedCalls === 0) tellIdle?.();
    if (call.counted) uncount(call.principal);
    call.turn?.leave();
  }

  /** Invoke, record. */
  async function perform({ call, args }: AdmittedCall): Promise<Answer> {
    let answer: Answer | undefined;
    try {
      answer = await invoke(call, args);
      const leftMs = call.timeoutMs - answer.execution_time_ms;
      const isDurable = await record(recordOf(call, answer), call.begun ? Math.min(leftMs, confirmWithinMs) : 0);
      // One whose record is not durable yet is told of by its trace, until it is.
      if (isDurable) traces?.ended(call);
      // Nobody was asked to do anything: whatever becomes of its record, that is so.
      if (isDurable || !call.begun) return answer;
      // A refusal would be retried and the tool run twice; an unrecorded success must not be acknowledged.
      return unknownAnswer(calledBy(call), 'The tool was called, but the call could not be recorded yet: its outcome is not confirmed');
    } finally {
      endCallSpan(call, answer);
      leave(call);
    }
  }

  function dismiss({ call }: AdmittedCall): void {
    endCallSpan(call);
    leave(call);
  }

  /** What is granted still has its limits, and its arguments have to fit. The principal has been let in before. */
  async function enter(principal: Principal, request: CallRequest, granted: Granted): Promise<AdmittedCall> {
    const longest = longestTime(granted.tool, limits);
    const usual = usualTime(granted.tool, limits);
    const callId = request.call_id ?? uuidV7();
    const call = new RunningCall({
      callId,
      principal,
      tool: granted.tool,
      policies: granted.policies,
      policyRevision: granted.revision,
      startedAt: Date.now(),
      // The caller may ask for less time than the administrator gives, never for more.
      timeoutMs: request.timeout_ms === undefined ? usual : Math.min(request.timeout_ms, longest),
      maxTimeoutMs: longest,
      shortened: request.timeout_ms !== undefined && request.timeout_ms < usual,
      counted: request.call_id === undefined,
      keepsRedirects: request.keepsRedirects ?? false,
      trace: request.trace,
      span: tracer && startCallSpan(tracer, request.trace, { callId, tool: granted.tool }),
    });
    admittedCalls++;
    try {
      turns.check(call.tool);
      const checking = validator.check(call.tool, request.arguments, principal.key);
      if (checking !== undefined) await checkedElsewhere(call, checking);
    } catch (error) {
      call.span?.end(failureOf(error));
      leave(call);
      return refuse(principal, request, error, call);
    }
    call.turn = turns.take(call.tool, principal);
    return { call, args: request.arguments };
  }

  /** Time has passed: what let the call in may not be so any more. */
  async function checkedElsewhere(call: RunningCall, checking: Promise<void>): Promise<void> {
    await checking;
    if (call.counted && acceptance.refusal !== undefined) throw acceptance.refusal;
    turns.check(call.tool);
  }

  return {
    async admit(principal, request) {
      // Whoever was still sending the request when the last call ended: its record could not be written any more.
      if (stopped) throw stopping();
      const counted = request.call_id === undefined;
      if (counted && acceptance.refusal !== undefined) throw acceptance.refusal;
      // First of all, so that nobody can fill the record with calls that are denied anyway. What is over the limit is counted, not recorded.
      if (counted) principals.enter(principal.key, limits.principal);
      const tool = counter.snapshot.find(request.tool);
      const access = counter.accessOf(principal);
      const permission = tool === undefined ? undefined : access.permissions.get(tool.tool_id);
      if (permission === undefined) {
        if (counted) uncount(principal);
        return refuse(principal, request, noSuchTool(suggestTools(request.tool, access.tools)));
      }
      return enter(principal, request, { tool: permission.tool, policies: permission.policies, revision: access.revision });
    },

    async admitTrusted(principal, tool, request) {
      if (stopped) throw stopping();
      if (acceptance.refusal !== undefined) throw acceptance.refusal;
      principals.enter(principal.key, limits.principal);
      return enter(principal, { tool: tool.name, ...request }, { tool, policies: '', revision: counter.rules.revision });
    },

    run(admitted) {
      if (durableCalls === undefined || !admitted.call.isDurable) return perform(admitted);
      return durableCalls.run(
        admitted,
        () => perform(admitted),
        () => dismiss(admitted),
      );
    },

    async goOn(callId, content, prepare) {
      if (stopped) throw new JobLeftError();
      const tool = counter.snapshot.find(content.tool_id);
      if (tool?.state !== 'active' || tool.definition_hash !== content.definition_hash) throw new UnknownOutcomeError(toolIsAnother);
      const ready = Promise.resolve(input.sourcesReady?.());
      const admitted = { call: resumedCall({ callId, content, tool, ready, tracer }), args: content.arguments as JsonObject };
      admittedCalls++;
      try {
        await prepare(admitted);
      } catch (error) {
        dismiss(admitted);
        throw error;
      }
      return perform(admitted);
    },

    load: turns,
    dismiss,
    running: (callId) => runningCalls.find(callId),
    async idle() {
      await new Promise<void>((resolve) => {
        tellIdle = () => {
          stopped = true;
          resolve();
        };
        if (admittedCalls === 0) tellIdle();
      });
      await traces?.close();
    },
    leaveDurable() {
      durableCalls?.leave();
      // Those that wait for a place are in no step.
      for (const call of runningCalls.all()) if (call.steps !== undefined && call.queued) call.leave();
    },
    cancelAll() {
      for (const call of runningCalls.all()) {
        if (call.steps === undefined) call.end('cancelled');
        else call.leave();
      }
    },
  };
}

function stopping(): CribError {
  return new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again', { origin: 'gateway' });
}
