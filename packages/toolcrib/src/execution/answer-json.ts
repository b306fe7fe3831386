import type { Answer, RawText } from '../model/call.ts';

/** The answer as it is sent. A large text that the source wrote as JSON is not written again, three times over. */
export function answerJson(answer: Answer, raw?: RawText): string {
  if (raw === undefined || !isUnchanged(answer, raw)) return JSON.stringify(answer);
  const { call_id, tool_id, tool, success, status, is_error, structured_content, result, text, error, execution_time_ms, metadata } =
    answer;
  const head = JSON.stringify({ call_id, tool_id, tool, success, status, is_error });
  const content = `[{"type":"text","text":${raw.json}}]`;
  const value = result === text ? raw.json : JSON.stringify(result);
  const tail = JSON.stringify({ error, execution_time_ms, metadata });
  const structured = JSON.stringify(structured_content);
  return `${head.slice(0, -1)},"content":${content},"structured_content":${structured},"result":${value},"text":${raw.json},${tail.slice(1)}`;
}

/** Whether the content is this one text, and nothing was added to or taken from it since. */
export function isUnchanged({ content, text }: Answer, raw: RawText): boolean {
  const [block] = content;
  return text === raw.text && content.length === 1 && block?.text === raw.text && Object.keys(block).length === 2;
}
