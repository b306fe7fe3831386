import type { Answer } from '../model/call.ts';
import type { Tool } from '../model/tool.ts';
import type { TraceContext } from '../model/trace-context.ts';
import type { Span, Tracer } from '../model/tracing.ts';
import type { RunningCall } from './running-call.ts';

/** [OPS-1] The span of one call, in the words of the semantic conventions for tools where they have one. */
export function startCallSpan(tracer: Tracer, parent: TraceContext | undefined, { callId, tool }: { callId: string; tool: Tool }): Span {
  return tracer.start(`execute_tool ${tool.name}`, parent, {
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool.name,
      'gen_ai.tool.call.id': callId,
      'toolcrib.tool.id': tool.tool_id,
      'toolcrib.tool.definition_hash': tool.definition_hash,
      'toolcrib.source': tool.namespace,
    },
  });
}

/** Without an answer it was never run. */
export function endCallSpan({ span, attempts }: RunningCall, answer?: Answer): void {
  if (span === undefined) return;
  span.set({ 'toolcrib.call.status': answer?.status ?? 'dismissed', 'toolcrib.call.attempts': attempts });
  if (answer?.error != null) span.set({ 'toolcrib.error.origin': answer.error.origin });
  span.end(answer?.error?.code);
}
