import type { Answer, CallRecord, ToolOutput } from '../model/call.ts';
import { CribError, type ErrorCode } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { TraceContext } from '../model/trace-context.ts';
import { failureOf, traced } from '../model/traced.ts';
import type { Tracer } from '../model/tracing.ts';
import type { Counter } from '../inventory/counter.ts';
import type { Source } from '../sources/source.ts';
import { answerFromError, calledBy, unknownAnswer } from './answer.ts';
import type { ArgumentValidator } from './argument-validator.ts';
import type { CallNotice } from './call-notice.ts';
import { recordOf, refusalRecord } from './call-record.ts';
import { endCallSpan, startCallSpan } from './call-span.ts';
import { createGate, type Limits } from './limits.ts';
import { outcomeOf } from './outcome-of.ts';
import type { Recorder } from './recorder.ts';
import { retryAfter } from './retries.ts';
import { RunningCall } from './running-call.ts';
import { RunningCalls } from './running-calls.ts';
import type { Shaper } from './shaper.ts';
import { createTurns, type Turns } from './turns.ts';
import { uuidV7 } from '../model/uuid-v7.ts';

export interface CallRequest {
  /** Tool id or name, in any of the forms of NAME-1. */
  tool: string;
  arguments: JsonObject;
  timeout_ms?: number;
  /** [OPS-1] Where the caller stands in a trace of its own. */
  trace?: TraceContext | undefined;
}

export interface ExecutionLimits {
  /** For every principal. */
  principal: Limits;
  defaultTimeoutMs: number;
  maxTimeoutMs: number;
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
  /** Gives back what `admit` took, for a call that will not be run after all. */
  dismiss(admitted: AdmittedCall): void;
  /** The call while it waits for its turn or its source, wherever it was started. */
  running(callId: string): RunningCall | undefined;
  /** Resolves when no admitted call is left; from then on none is admitted. */
  idle(): Promise<void>;
  /** Ends every running call; their answers are still recorded. */
  cancelAll(): void;
  /** [EXEC-7] Who waits, and which sources are left alone. */
  readonly load: Pick<Turns, 'waiting' | 'breakerOf' | 'disturbed' | 'forget'>;
}

export interface AdmittedCall {
  readonly call: RunningCall;
  readonly args: JsonObject;
}

interface Granted {
  tool: Tool;
  /** Ids of the policies that granted it. */
  policies: string;
  revision: number;
}

export interface ExecutorInput {
  counter: Counter;
  sourceOf(sourceId: string): Source | undefined;
  validator: ArgumentValidator;
  shape: Shaper;
  recorder: Recorder;
  limits: ExecutionLimits;
  /** [OPS-1] Where traces are wanted. */
  tracer?: Tracer | undefined;
  /** Told about every finished call, for metrics. */
  onFinished?(record: CallRecord): void;
  /** Told about what happened to a call on its way, for metrics. */
  onNotice?(notice: CallNotice, tool: Tool): void;
  /** Told about every call that failed through the fault of its source, for metrics. */
  onSourceFault?(code: ErrorCode, tool: Tool): void;
  /** Told about a failure that is ours and not the tool's, and in which call. */
  onFault?(error: unknown, callId: string): void;
}

/** [BFF] The same words for a tool that is not there and one the caller may not use, so that neither can be told from the other. */
const noSuchTool = 'There is no such tool for you. GET /api/bff/tools lists those there are.';

/** [EXEC-1] The one path of every call, whatever the source. */
export function createExecutor(input: ExecutorInput): Executor {
  const { counter, validator, shape, recorder, limits, tracer } = input;
  const principals = createGate({ who: 'You' });
  const turns = createTurns();
  const runningCalls = new RunningCalls();
  let admittedCalls = 0;
  let tellIdle: (() => void) | undefined;
  let stopped = false;

  async function record(entry: CallRecord): Promise<void> {
    try {
      await recorder.record(entry);
    } catch (cause) {
      input.onFault?.(cause, entry.call_id);
      throw new CribError('SERVICE_UNAVAILABLE', 'The call could not be recorded', { cause });
    }
    input.onFinished?.(entry);
  }

  /** A denial is recorded like a call, then thrown on. */
  async function refuse(principal: Principal, request: CallRequest, error: unknown, found?: RunningCall): Promise<never> {
    await record(refusalRecord(principal, { asked: request.tool, error, found, revision: counter.rules.revision }));
    throw error;
  }

  function askOnce(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> {
    const source = input.sourceOf(call.tool.source_id);
    if (source === undefined) throw new CribError('SERVICE_UNAVAILABLE', `The source of ${call.tool.name} is not running`);
    return source.call(call.tool, args, call);
  }

  function ask(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> {
    call.turn?.begin();
    return askOnce(call, args);
  }

  /** Costs nothing where nothing fails. */
  function settle(call: RunningCall, args: JsonObject, output: Promise<ToolOutput>): Promise<ToolOutput> {
    const { retries } = call.tool;
    if (retries === null) return call.settle(output);
    const again = () => askOnce(call, args);
    const onRetry = () => input.onNotice?.('retried', call.tool);
    return call.settle(output, (error) => retryAfter(error, { call, retries, again, onRetry }));
  }

  /** Its time runs from the first moment it waits. */
  async function askLater(call: RunningCall, args: JsonObject, ready: Promise<void>): Promise<ToolOutput> {
    call.queued = true;
    await traced(call.span?.child('wait for a place'), ready);
    // Whoever was cancelled in the very moment of its turn must not be asked for any more.
    call.signal.throwIfAborted();
    call.queued = false;
    return ask(call, args);
  }

  async function invoke(call: RunningCall, args: JsonObject): Promise<Answer> {
    const began = performance.now();
    const { turn } = call;
    try {
      const output = turn?.ready === undefined ? ask(call, args) : askLater(call, args, turn.ready);
      if (output instanceof Promise) runningCalls.add(call);
      const settled = output instanceof Promise ? await settle(call, args, output) : output;
      turn?.end({ kind: 'answered' });
      const answer = shape(call, settled, elapsed(began));
      return answer instanceof Promise ? await answer : answer;
    } catch (error) {
      if (error instanceof CribError) {
        const outcome = outcomeOf(error, call);
        turn?.end(outcome);
        // Whoever never had their turn has not been failed by anybody.
        if (outcome.kind === 'failed' && !call.queued) input.onSourceFault?.(error.code, call.tool);
        return answerFromError(call, error, elapsed(began));
      }
      input.onFault?.(error, call.callId);
      const fault = new CribError('INTERNAL', `${call.tool.name} failed inside Toolcrib; the server's log has call ${call.callId}`);
      return answerFromError(call, fault, elapsed(began));
    } finally {
      runningCalls.delete(call);
    }
  }

  function leave(call: RunningCall): void {
    admittedCalls--;
    if (admittedCalls === 0) tellIdle?.();
    principals.leave(call.principal.key, limits.principal);
    call.turn?.leave();
  }

  /** What is granted still has its limits, and its arguments have to fit. The principal has been let in before. */
  async function enter(principal: Principal, request: CallRequest, granted: Granted): Promise<AdmittedCall> {
    const longest = longestFor(granted.tool, limits);
    const usual = Math.min(usualFor(granted.tool, limits), longest);
    const callId = uuidV7();
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
      trace: request.trace,
      span: tracer && startCallSpan(tracer, request.trace, { callId, tool: granted.tool }),
    });
    try {
      turns.check(call.tool);
      validator.check(call.tool, request.arguments);
    } catch (error) {
      call.span?.end(failureOf(error));
      principals.leave(principal.key, limits.principal);
      return refuse(principal, request, error, call);
    }
    call.turn = turns.take(call.tool, principal);
    admittedCalls++;
    return { call, args: request.arguments };
  }

  return {
    async admit(principal, request) {
      // Whoever was still sending the request when the last call ended: its record could not be written any more.
      if (stopped) throw stopping();
      // First of all, so that nobody can fill the record with calls that are denied anyway. What is over the limit is counted, not recorded.
      principals.enter(principal.key, limits.principal);
      const tool = counter.snapshot.find(request.tool);
      const access = counter.accessOf(principal);
      const permission = tool === undefined ? undefined : access.permissions.get(tool.tool_id);
      if (permission === undefined) {
        principals.leave(principal.key, limits.principal);
        return refuse(principal, request, new CribError('NOT_FOUND', noSuchTool));
      }
      return enter(principal, request, { tool: permission.tool, policies: permission.policies, revision: access.revision });
    },

    async admitTrusted(principal, tool, request) {
      if (stopped) throw stopping();
      principals.enter(principal.key, limits.principal);
      return enter(principal, { tool: tool.name, ...request }, { tool, policies: '', revision: counter.rules.revision });
    },

    async run({ call, args }) {
      let answer: Answer | undefined;
      try {
        answer = await invoke(call, args);
        try {
          await record(recordOf(call, answer));
          return answer;
        } catch {
          // A refusal would be retried and the tool run twice; an unrecorded success must not be acknowledged.
          return unknownAnswer(calledBy(call), 'The tool was called, but the call could not be recorded: its outcome is not confirmed');
        }
      } finally {
        endCallSpan(call, answer);
        leave(call);
      }
    },

    load: turns,
    dismiss({ call }) {
      endCallSpan(call);
      leave(call);
    },
    running: (callId) => runningCalls.find(callId),
    idle: () =>
      new Promise((resolve) => {
        tellIdle = () => {
          stopped = true;
          resolve();
        };
        if (admittedCalls === 0) tellIdle();
      }),
    cancelAll() {
      for (const call of runningCalls.all()) call.end('cancelled');
    },
  };
}

function stopping(): CribError {
  return new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again');
}

function usualFor(tool: Tool, limits: ExecutionLimits): number {
  return tool.limits.timeout_ms ?? tool.timeout_ms ?? limits.defaultTimeoutMs;
}

/** Where tool and source both say, both hold. */
function longestFor({ limits: own, source_limits: all }: Tool, limits: ExecutionLimits): number {
  if (own.timeout_ms === undefined) return all.timeout_ms ?? limits.maxTimeoutMs;
  return Math.min(own.timeout_ms, all.timeout_ms ?? own.timeout_ms);
}

/** Milliseconds to a tenth of a microsecond: more digits would be noise in every answer. */
function elapsed(began: number): number {
  return Math.round((performance.now() - began) * 10_000) / 10_000;
}
