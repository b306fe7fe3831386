import { restorePrincipal } from '../identity/kept-principal.ts';
import type { Tool } from '../model/tool.ts';
import type { Tracer } from '../model/tracing.ts';
import { startCallSpan } from './call-span.ts';
import type { JobContent } from './job-content.ts';
import { RunningCall } from './running-call.ts';

interface ResumedCall {
  callId: string;
  content: JobContent;
  tool: Tool;
  /** Resolves when it may begin. */
  ready: Promise<void>;
  tracer: Tracer | undefined;
}

/** [POLL-2] [WF-2] A call as it was admitted, with the rest of its time. */
export function resumedCall({ callId, content, tool, ready, tracer }: ResumedCall): RunningCall {
  const trace = content.trace;
  const goneMs = Date.now() - content.started_at;
  const call = new RunningCall({
    callId,
    principal: restorePrincipal(content.principal),
    tool,
    policies: content.policies,
    policyRevision: content.policy_revision,
    startedAt: content.started_at,
    timeoutMs: Math.max(1, Math.min(content.timeout_ms, content.max_timeout_ms - goneMs)),
    maxTimeoutMs: Math.max(1, content.max_timeout_ms - goneMs),
    resumed: true,
    counted: false,
    trace,
    via: content.via,
    span: tracer && startCallSpan(tracer, trace, { callId, tool }),
  });
  // It had its turn before, and now waits for its source.
  call.turn = { ready, begin() {}, end() {}, leave() {} };
  return call;
}
