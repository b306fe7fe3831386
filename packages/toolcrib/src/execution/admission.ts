import type { Inventory } from '../inventory/inventory.ts';
import { suggestTools } from '../inventory/suggest-tools.ts';
import type { CallVia } from '../model/call.ts';
import { noLimits } from '../model/call-limits.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Observer } from '../model/observer.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { TraceContext } from '../model/trace-context.ts';
import { failureOf } from '../model/traced.ts';
import type { Tracer } from '../model/tracing.ts';
import { uuidV7 } from '../model/uuid-v7.ts';
import { createGate, isUnlimited, type Limits } from '../resilience/gate.ts';
import type { ArgumentValidator } from '../validation/tool-validators.ts';
import type { Acceptance } from './acceptance.ts';
import { startCallSpan } from './call-span.ts';
import { noSuchTool } from './no-such-tool.ts';
import { refusalRecord, type Recorder } from './recorder.ts';
import { RunningCall } from './running-call.ts';
import { createTurns, type Turns } from './turns.ts';

export interface CallRequest {
  /** Tool id or name, in any of the forms of NAME-1. */
  tool: string;
  arguments: JsonObject;
  timeout_ms?: number;
  /** Of a step of another call: the same on every attempt. The limits of the caller have counted the call that it is a step of. */
  call_id?: string;
  /** Of a step that handles redirects itself. */
  keepsRedirects?: boolean;
  /** [OPS-1] Where the caller stands in a trace of its own. */
  trace?: TraceContext | undefined;
  /** [DOOR-3] Absent for the REST API. */
  via?: CallVia | undefined;
}

/** A call that may be made. */
export interface AdmittedCall {
  readonly call: RunningCall;
  readonly args: JsonObject;
}

export interface ExecutionLimits {
  /** For every principal. */
  principal: Limits;
  defaultTimeoutMs: number;
  maxTimeoutMs: number;
}

export interface Admission {
  /**
   * Find, decide, validate: throws `CribError` when the call is refused. A promise where something has to be waited for: the record of a
   * refusal, or a costly check. An admitted call must be run or dismissed.
   */
  admit(principal: Principal, request: CallRequest): AdmittedCall | Promise<AdmittedCall>;
  /**
   * The same for the application that Toolcrib is embedded in, which decides itself who may call what: no policy is asked. Requests from
   * outside never go this way.
   */
  admitTrusted(principal: Principal, tool: Tool, request: Omit<CallRequest, 'tool'>): AdmittedCall | Promise<AdmittedCall>;
  /** [POLL-2] [WF-2] Counts a call that was admitted by an earlier run. */
  readmit(): void;
  isClosed(): boolean;
  /** [POL-5] Throws where the source of an admitted call must not be asked any more. */
  recheck(call: RunningCall): void;
  /** Resolves when the source may be asked, for a call that waits instead of being refused; undefined where it may be at once. */
  accepted(call: RunningCall): Promise<void> | undefined;
  /** Gives back everything that the call took. */
  leave(call: RunningCall): void;
  /** Resolves when no admitted call is left; from then on none is admitted. */
  close(): Promise<void>;
  readonly turns: Turns;
}

export interface AdmissionInput {
  inventory: Inventory;
  acceptance: Acceptance;
  validator: ArgumentValidator;
  recorder: Pick<Recorder, 'record'>;
  limits: ExecutionLimits;
  /** [OPS-1] Where traces are wanted. */
  tracer?: Tracer | undefined;
  observer: Pick<Observer, 'callFinished'>;
}

interface Granted {
  tool: Tool;
  /** Ids of the policies that granted it. */
  policies: string;
  revision: number;
}

/** [EXEC-1] Decides which calls are made, and counts those that have not ended. */
export function createAdmission(input: AdmissionInput): Admission {
  const { inventory, acceptance, validator, limits } = input;
  const refuse = createRefuse(input);
  const callers = isUnlimited(limits.principal) ? undefined : createGate({ who: 'You' });
  const turns = createTurns();
  let admitted = 0;
  let onLast: (() => void) | undefined;
  let isClosed = false;

  /** A granted tool still has its limits, and the arguments have to fit. The limits of the principal were checked before. */
  function letIn(principal: Principal, request: CallRequest, granted: Granted): AdmittedCall | Promise<AdmittedCall> {
    const { tool } = granted;
    const call = newCall(principal, request, granted, input);
    const isLimited = tool.limits !== noLimits || tool.source_limits !== noLimits;
    admitted++;
    try {
      if (isLimited) turns.check(tool);
      const checking = validator.check(tool, request.arguments, principal.key);
      if (checking !== undefined) return letInLater(call, request, checking);
    } catch (error) {
      return sendAway(call, request, error);
    }
    if (isLimited) call.turn = turns.take(tool, principal);
    return { call, args: request.arguments };
  }

  /** Time passes while the arguments are checked elsewhere, and things may have changed after it. */
  async function letInLater(call: RunningCall, request: CallRequest, checking: Promise<void>): Promise<AdmittedCall> {
    try {
      await checking;
      if (call.counted) throwRefusal();
      turns.check(call.tool);
    } catch (error) {
      return sendAway(call, request, error);
    }
    call.turn = turns.take(call.tool, call.principal);
    return { call, args: request.arguments };
  }

  function sendAway(call: RunningCall, request: CallRequest, error: unknown): Promise<never> {
    call.span?.end(failureOf(error));
    leave(call);
    return refuse(call.principal, request, error, call);
  }

  function throwRefusal(): void {
    const refusal = acceptance.refusal();
    if (refusal !== undefined) throw refusal;
  }

  /** A request may still be arriving when the last call has ended: its record could not be written any more. */
  function throwIfClosed(): void {
    if (isClosed) throw new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again', { origin: 'gateway' });
  }

  function leave(call: RunningCall): void {
    admitted--;
    if (admitted === 0) onLast?.();
    if (call.counted) callers?.leave(call.principal.key, limits.principal);
    call.turn?.leave();
  }

  return {
    admit(principal, request) {
      throwIfClosed();
      const counted = request.call_id === undefined;
      if (counted) throwRefusal();
      // First of all, so that nobody can fill the record with calls that are denied anyway. Calls over the limit are counted, not recorded.
      if (counted) callers?.enter(principal.key, limits.principal);
      const tool = inventory.find(request.tool);
      const access = inventory.accessOf(principal);
      const permission = tool === undefined ? undefined : access.permissions.get(tool.tool_id);
      if (permission === undefined) {
        if (counted) callers?.leave(principal.key, limits.principal);
        return refuse(principal, request, noSuchTool(suggestTools(request.tool, access.tools)));
      }
      return letIn(principal, request, { tool: permission.tool, policies: permission.policies, revision: access.revision });
    },

    admitTrusted(principal, tool, request) {
      throwIfClosed();
      throwRefusal();
      callers?.enter(principal.key, limits.principal);
      return letIn(principal, { tool: tool.name, ...request }, { tool, policies: '', revision: inventory.rules.revision });
    },

    readmit() {
      admitted++;
    },
    isClosed: () => isClosed,

    recheck(call) {
      // A call that goes on after a crash was begun before, and is not decided anew.
      if (call.resumed) return;
      throwRefusal();
      // No policy decides about trusted calls.
      if (call.policyRevision === inventory.rules.revision || call.policies === '') return;
      if (!inventory.accessOf(call.principal).permissions.has(call.tool.tool_id)) throw noSuchTool();
    },

    // [WF-2] A refusal would fail a call that goes on after a crash, or a step of one, for good: these wait.
    accepted: (call) => (call.counted || acceptance.refusal() === undefined ? undefined : acceptance.accepted()),

    leave,
    close: () =>
      new Promise((resolve) => {
        onLast = () => {
          isClosed = true;
          resolve();
        };
        if (admitted === 0) onLast();
      }),
    turns,
  };
}

/** A denial is recorded like a call, then thrown. */
function createRefuse({ inventory, recorder, observer, acceptance }: AdmissionInput) {
  return async function refuse(principal: Principal, request: CallRequest, error: unknown, found?: RunningCall): Promise<never> {
    const record = refusalRecord(principal, { asked: request.tool, error, found, revision: inventory.rules.revision, via: request.via });
    const isDurable = await recorder.record(record);
    observer.callFinished(record);
    if (isDurable) throw error;
    throw acceptance.refusal() ?? new CribError('SERVICE_UNAVAILABLE', 'The call was refused, and that could not be recorded: try again');
  };
}

function newCall(
  principal: Principal,
  request: CallRequest,
  { tool, policies, revision }: Granted,
  { limits, tracer }: AdmissionInput,
): RunningCall {
  const callId = request.call_id ?? uuidV7();
  const longest = longestTime(tool, limits);
  const usual = usualTime(tool, longest, limits);
  return new RunningCall({
    callId,
    principal,
    tool,
    policies,
    policyRevision: revision,
    startedAt: Date.now(),
    // The caller may ask for less time than the administrator gives, never for more.
    timeoutMs: request.timeout_ms === undefined ? usual : Math.min(request.timeout_ms, longest),
    maxTimeoutMs: longest,
    shortened: request.timeout_ms !== undefined && request.timeout_ms < usual,
    counted: request.call_id === undefined,
    keepsRedirects: request.keepsRedirects ?? false,
    trace: request.trace,
    via: request.via,
    span: tracer && startCallSpan(tracer, request.trace, { callId, tool }),
  });
}

/** [POLL-2] A call that outlives its server gets the time for it by default. */
const durableTimeoutMs = 3_600_000;
/** A timer holds no more than 24 days. */
const longestTimerMs = 20 * 86_400_000;

/** Where both the tool and its source have a limit, the shorter one holds. */
function longestTime({ limits: own, source_limits: all, timeout_ms, durable }: Tool, { maxTimeoutMs }: ExecutionLimits): number {
  if (own.timeout_ms !== undefined) return Math.min(own.timeout_ms, all.timeout_ms ?? own.timeout_ms);
  if (all.timeout_ms !== undefined || !durable) return all.timeout_ms ?? maxTimeoutMs;
  return Math.min(Math.max(maxTimeoutMs, durableTimeoutMs, timeout_ms ?? 0), longestTimerMs);
}

function usualTime({ limits, timeout_ms, durable }: Tool, longest: number, { defaultTimeoutMs }: ExecutionLimits): number {
  return durable ? longest : Math.min(limits.timeout_ms ?? timeout_ms ?? defaultTimeoutMs, longest);
}
