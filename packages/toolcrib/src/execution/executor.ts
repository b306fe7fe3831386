import type { Answer, CallRecord } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { Counter } from '../inventory/counter.ts';
import type { Source } from '../sources/source.ts';
import { answerFrom, answerFromError, calledBy, unknownAnswer } from './answer.ts';
import type { ArgumentValidator } from './argument-validator.ts';
import { createGate, type Limits } from './limits.ts';
import type { Recorder } from './recorder.ts';
import { RunningCall } from './running-call.ts';
import { RunningCalls } from './running-calls.ts';
import { uuidV7 } from '../model/uuid-v7.ts';

export interface CallRequest {
  /** Tool id or name, in any of the forms of NAME-1. */
  tool: string;
  arguments: JsonObject;
  timeout_ms?: number;
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
  /** Invoke, shape, record. Never throws for what the tool or its source did: that is in the answer. */
  run(admitted: AdmittedCall): Promise<Answer>;
  /** Gives back what `admit` took, for a call that will not be run after all. */
  dismiss(admitted: AdmittedCall): void;
  /** The call while it waits for its source, wherever it was started. */
  running(callId: string): RunningCall | undefined;
  /** Resolves when no admitted call is left; from then on none is admitted. */
  idle(): Promise<void>;
  /** Ends every running call; their answers are still recorded. */
  cancelAll(): void;
}

export interface AdmittedCall {
  readonly call: RunningCall;
  readonly args: JsonObject;
}

export interface ExecutorInput {
  counter: Counter;
  sourceOf(sourceId: string): Source | undefined;
  validator: ArgumentValidator;
  recorder: Recorder;
  limits: ExecutionLimits;
  /** Told about every finished call, for metrics. */
  onFinished?(record: CallRecord): void;
  /** Told about a failure that is ours and not the tool's. */
  onFault?(error: unknown): void;
}

/** [BFF] The same words for a tool that is not there and one the caller may not use, so that neither can be told from the other. */
const noSuchTool = 'There is no such tool for you. GET /api/bff/tools lists those there are.';

/** [EXEC-1] The one path of every call, whatever the source. */
export function createExecutor(input: ExecutorInput): Executor {
  const { counter, validator, recorder, limits } = input;
  const principals = createGate({ who: 'You' });
  const tools = createGate({ who: 'This tool' });
  const runningCalls = new RunningCalls();
  let admittedCalls = 0;
  let tellIdle: (() => void) | undefined;
  let stopped = false;

  async function record(entry: CallRecord): Promise<void> {
    try {
      await recorder.record(entry);
    } catch (cause) {
      input.onFault?.(cause);
      throw new CribError('SERVICE_UNAVAILABLE', 'The call could not be recorded', { cause });
    }
    input.onFinished?.(entry);
  }

  /** A denial is recorded like a call, then thrown on. */
  async function refuse(principal: Principal, request: CallRequest, error: unknown, found?: RunningCall): Promise<never> {
    const { code } = error instanceof CribError ? error : { code: 'INTERNAL' as const };
    await record({
      call_id: found?.callId ?? uuidV7(),
      started_at: found?.startedAt ?? Date.now(),
      duration_us: 0,
      issuer: principal.issuer,
      subject: principal.subject,
      client: principal.client,
      tool_id: found?.tool.tool_id ?? null,
      tool: found?.tool.name ?? request.tool.slice(0, 512),
      source_id: found?.tool.source_id ?? null,
      definition_hash: found?.tool.definition_hash ?? null,
      policies: found?.policies ?? '',
      policy_revision: found?.policyRevision ?? counter.rules.revision,
      status: 'failed',
      error_code: code,
    });
    throw error;
  }

  function recordOf(call: RunningCall, answer: Answer): CallRecord {
    return {
      call_id: call.callId,
      started_at: call.startedAt,
      duration_us: Math.round(answer.execution_time_ms * 1000),
      issuer: call.principal.issuer,
      subject: call.principal.subject,
      client: call.principal.client,
      tool_id: call.tool.tool_id,
      tool: call.tool.name,
      source_id: call.tool.source_id,
      definition_hash: call.tool.definition_hash,
      policies: call.policies,
      policy_revision: call.policyRevision,
      status: answer.status,
      error_code: answer.error?.code ?? null,
    };
  }

  async function invoke(call: RunningCall, args: JsonObject): Promise<Answer> {
    const began = performance.now();
    try {
      const source = input.sourceOf(call.tool.source_id);
      if (source === undefined) throw new CribError('SERVICE_UNAVAILABLE', `The source of ${call.tool.name} is not running`);
      const output = source.call(call.tool, args, call);
      if (!(output instanceof Promise)) return answerFrom(call, output, elapsed(began));
      runningCalls.add(call);
      return answerFrom(call, await call.settle(output), elapsed(began));
    } catch (error) {
      if (error instanceof CribError) return answerFromError(call, error, elapsed(began));
      input.onFault?.(error);
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
    tools.leave(call.tool.tool_id, call.tool.limits);
  }

  return {
    async admit(principal, request) {
      // Whoever was still sending the request when the last call ended: its record could not be written any more.
      if (stopped) throw new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again');
      // First of all, so that nobody can fill the record with calls that are denied anyway. What is over the limit is counted, not recorded.
      principals.enter(principal.key, limits.principal);
      const tool = counter.snapshot.find(request.tool);
      const access = counter.accessOf(principal);
      const permission = tool === undefined ? undefined : access.permissions.get(tool.tool_id);
      if (permission === undefined) {
        principals.leave(principal.key, limits.principal);
        return refuse(principal, request, new CribError('NOT_FOUND', noSuchTool));
      }
      const call = new RunningCall({
        callId: uuidV7(),
        principal,
        tool: permission.tool,
        policies: permission.policies,
        policyRevision: access.revision,
        startedAt: Date.now(),
        timeoutMs: timeoutFor(request, permission.tool, limits),
        maxTimeoutMs: permission.tool.limits.timeout_ms ?? limits.maxTimeoutMs,
      });
      try {
        tools.enter(call.tool.tool_id, call.tool.limits);
      } catch (error) {
        principals.leave(principal.key, limits.principal);
        return refuse(principal, request, error, call);
      }
      admittedCalls++;
      try {
        validator.check(call.tool, request.arguments);
      } catch (error) {
        leave(call);
        return refuse(principal, request, error, call);
      }
      return { call, args: request.arguments };
    },

    async run({ call, args }) {
      try {
        const answer = await invoke(call, args);
        try {
          await record(recordOf(call, answer));
          return answer;
        } catch {
          // A refusal would be retried and the tool run twice; an unrecorded success must not be acknowledged.
          return unknownAnswer(calledBy(call), 'The tool was called, but the call could not be recorded: its outcome is not confirmed');
        }
      } finally {
        leave(call);
      }
    },

    dismiss: ({ call }) => leave(call),
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

/** The caller may ask for less time than the administrator gives, never for more. */
function timeoutFor(request: CallRequest, tool: Tool, limits: ExecutionLimits): number {
  const most = tool.limits.timeout_ms ?? limits.maxTimeoutMs;
  return Math.min(request.timeout_ms ?? tool.limits.timeout_ms ?? tool.timeout_ms ?? limits.defaultTimeoutMs, most);
}

/** Milliseconds to a tenth of a microsecond: more digits would be noise in every answer. */
function elapsed(began: number): number {
  return Math.round((performance.now() - began) * 10_000) / 10_000;
}
