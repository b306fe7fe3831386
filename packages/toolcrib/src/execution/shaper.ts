import type { Answer, CallError, ContentBlock, ToolOutput } from '../model/call.ts';
import { parseExactJson } from '../model/exact-json.ts';
import { jsonSize, maxDepth } from '../model/json-size.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { noObserver, type Observer } from '../model/observer.ts';
import { isFile, type Artifact } from './artifact-of.ts';
import { cutOutput, largestMetadata } from './cut-output.ts';
import { failureMessage, isRetriable } from './failure-message.ts';
import type { KeptArtifacts } from './kept-artifacts.ts';
import type { OutputValidator } from '../validation/tool-validators.ts';
import type { RunningCall } from './running-call.ts';

interface ShaperInput {
  artifacts: KeptArtifacts;
  outputs: OutputValidator;
  /** The largest answer that is given whole where neither tool nor source says. */
  responseBytes: number;
  observer?: Pick<Observer, 'callNoticed'> | undefined;
}

/** Turns the output of a source into the answer. A promise only where something has to be stored first. */
export type Shaper = (call: RunningCall, output: ToolOutput, executionTimeMs: number) => Answer | Promise<Answer>;

export function createShaper({ artifacts, outputs, responseBytes, observer = noObserver }: ShaperInput): Shaper {
  /** [MCP-7] A violation is flagged and never fails the call: the answer may be useful anyway. */
  function flagged({ tool }: RunningCall, output: ToolOutput): ToolOutput {
    const violation = outputs.violation(tool, output);
    if (violation === undefined) return output;
    observer.callNoticed('output-schema-violated', tool);
    return { ...output, metadata: { ...output.metadata, output_schema_violation: true, output_schema_violation_reason: violation } };
  }

  /** [EXEC-7] Artifacts are stored before the answer, so that no address in it leads nowhere. */
  async function cut(call: RunningCall, output: ToolOutput, most: number, takeFiles: boolean): Promise<ToolOutput> {
    const addressOf = (n: number) => `/api/bff/calls/${call.callId}/artifacts/${n}`;
    const first = cutOutput(output, most, addressOf, { takeFiles });
    if (first.truncated) observer.callNoticed('cut', call.tool);
    const kept = first.artifacts.length === 0 || (await artifacts.keep(call, first.artifacts));
    const { output: shown } = kept ? first : cutOutput(output, most, undefined, { takeFiles });
    const listed = kept ? first.artifacts.map((artifact, index) => describe(artifact, index + 1, addressOf)) : [];
    return { ...shown, metadata: { ...shown.metadata, ...(first.truncated && { truncated: true }), artifacts: listed } };
  }

  return function shape(call, output, executionTimeMs) {
    const { limits: own, source_limits: all } = call.tool;
    const most = Math.min(own.response_bytes ?? all.response_bytes ?? responseBytes, all.response_bytes ?? Infinity);
    const checked = call.tool.definition.output_schema === undefined ? output : flagged(call, output);
    // [HTTP-2] An MCP server that sends bytes means them for its caller; an HTTP service may answer with anything.
    const takeFiles = call.tool.operation !== null && checked.content.some(isFile);
    if (!takeFiles && fitsWithin(checked, most)) return answerFrom(call, checked, executionTimeMs);
    return cut(call, checked, most, takeFiles).then((shown) => answerFrom(call, shown, executionTimeMs));
  };
}

/** Whether an answer can be given whole. Quick unless it is near the limit. */
export function fitsWithin(output: ToolOutput, most: number): boolean {
  const { content, structured_content: structured, metadata } = output;
  if (metadata !== undefined && jsonSize(metadata, { most: largestMetadata }) > largestMetadata) return false;
  const quick = jsonSize(content as Json, { most }) + (structured === undefined ? 0 : jsonSize(structured, { most }));
  if (quick <= most) return true;
  if (quick === Infinity) return false;
  return jsonSize(content as Json, { most, exact: true }) + jsonSize(structured ?? null, { most, exact: true }) <= most;
}

/** [EXEC-2] A tool's output in the form every caller gets. */
export function answerFrom(call: RunningCall, output: ToolOutput, executionTimeMs: number): Answer {
  const isError = output.is_error === true;
  const text = joinedText(output.content);
  return {
    call_id: call.callId,
    tool_id: call.tool.tool_id,
    tool: call.tool.name,
    success: !isError,
    status: isError ? 'failed' : 'completed',
    is_error: isError,
    content: output.content,
    structured_content: output.structured_content ?? null,
    result: resultValue(output),
    text,
    error: isError ? errorIn(output, text) : null,
    execution_time_ms: executionTimeMs,
    metadata: { attempts: call.attempts, ...output.metadata, source_id: call.tool.source_id },
  };
}

/** A tool's own failure, unless the source says otherwise. */
function errorIn(output: ToolOutput, text: string): CallError {
  const { code = 'SERVICE_UNAVAILABLE', origin = 'tool' } = output.failure ?? {};
  return { code, message: failureMessage(output, text), origin, retryable: isRetriable(output) };
}

/** [EXEC-2] All text blocks, joined. */
export function joinedText(content: readonly ContentBlock[]): string {
  if (content.length === 1) return textOf(content[0]) ?? '';
  return content
    .map(textOf)
    .filter((text) => text !== undefined)
    .join('\n');
}

/** [EXEC-2] The answer as one value: structured content if there is any, else what the text blocks say. */
export function resultValue(output: ToolOutput): Json {
  if (output.structured_content !== undefined && output.structured_content !== null) return output.structured_content;
  const values: Json[] = [];
  for (const block of output.content) {
    const text = textOf(block);
    if (text !== undefined) values.push(parsedText(text));
  }
  if (values.length === 0) return null;
  return values.length === 1 ? (values[0] as Json) : values;
}

function textOf(block: ContentBlock | undefined): string | undefined {
  return block?.type === 'text' && typeof block.text === 'string' ? block.text : undefined;
}

const mayBeJson = /^\s*[[{\d-]/;

/** JSON only where it is plainly meant: an object, a list, or a number that prints back identically. `"007"`, `"true"` and 20 digits stay text. */
function parsedText(text: string): Json {
  if (!mayBeJson.test(text)) return text;
  let value: Json;
  try {
    value = parseExactJson(text);
  } catch {
    return text;
  }
  if (typeof value === 'number') return String(value) === text ? value : text;
  if (typeof value !== 'object' || value === null) return text;
  return text.length > 2 * maxDepth && isDeeperThan(maxDepth, value) ? text : value;
}

function isDeeperThan(levels: number, value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

function describe({ type, mime_type, data, name }: Artifact, n: number, addressOf: (n: number) => string): JsonObject {
  return { n, type, mime_type, bytes: data.length, url: addressOf(n), ...(name !== undefined && { name }) };
}
