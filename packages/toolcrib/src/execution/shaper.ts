import type { Answer, ToolOutput } from '../model/call.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { answerFrom } from './answer.ts';
import { isFile, type Artifact } from './artifact-of.ts';
import type { CallNotice } from './call-notice.ts';
import { cutOutput, fitsWithin } from './cut-output.ts';
import type { KeptArtifacts } from './kept-artifacts.ts';
import type { OutputValidator } from './output-validator.ts';
import type { RunningCall } from './running-call.ts';

interface ShaperInput {
  artifacts: KeptArtifacts;
  outputs: OutputValidator;
  /** The largest answer that is given whole where neither tool nor source says. */
  responseBytes: number;
  onNotice?: ((notice: CallNotice, tool: Tool) => void) | undefined;
}

/** What a source gave back, as an answer. A promise only where something has to be kept first. */
export type Shaper = (call: RunningCall, output: ToolOutput, executionTimeMs: number) => Answer | Promise<Answer>;

export function createShaper({ artifacts, outputs, responseBytes, onNotice }: ShaperInput): Shaper {
  /** [MCP-7] Flagged, never failed: the answer may be useful all the same. */
  function flagged({ tool }: RunningCall, output: ToolOutput): ToolOutput {
    const violation = outputs.violation(tool, output);
    if (violation === undefined) return output;
    onNotice?.('output-schema-violated', tool);
    return { ...output, metadata: { ...output.metadata, output_schema_violation: true, output_schema_violation_reason: violation } };
  }

  /** [EXEC-7] Kept before it is answered, so that nobody is sent to something that is not there. */
  async function cut(call: RunningCall, output: ToolOutput, most: number, takeFiles: boolean): Promise<ToolOutput> {
    const addressOf = (n: number) => `/api/bff/calls/${call.callId}/artifacts/${n}`;
    const first = cutOutput(output, most, addressOf, { takeFiles });
    if (first.truncated) onNotice?.('cut', call.tool);
    const kept = first.artifacts.length === 0 || (await artifacts.keep(call, first.artifacts));
    const { output: shown } = kept ? first : cutOutput(output, most, undefined, { takeFiles });
    const listed = kept ? first.artifacts.map((artifact, index) => describe(artifact, index + 1, addressOf)) : [];
    return { ...shown, metadata: { ...shown.metadata, ...(first.truncated && { truncated: true }), artifacts: listed } };
  }

  return (call, output, executionTimeMs) => {
    const { limits: own, source_limits: all } = call.tool;
    const most = Math.min(own.response_bytes ?? all.response_bytes ?? responseBytes, all.response_bytes ?? Infinity);
    const checked = call.tool.definition.output_schema === undefined ? output : flagged(call, output);
    // [HTTP-2] A tool server that sends bytes means its caller to have them; what a service answers with may be anything.
    const takeFiles = call.tool.operation !== null && checked.content.some(isFile);
    if (!takeFiles && fitsWithin(checked, most)) return answerFrom(call, checked, executionTimeMs);
    return cut(call, checked, most, takeFiles).then((shown) => answerFrom(call, shown, executionTimeMs));
  };
}

function describe({ type, mime_type, data, name }: Artifact, n: number, addressOf: (n: number) => string): JsonObject {
  return { n, type, mime_type, bytes: data.length, url: addressOf(n), ...(name !== undefined && { name }) };
}
