import type { JSONValue } from 'json-p3';
import { JSONPathEnvironment } from 'json-p3';
import type { WorkOutcome } from './work.ts';
import { resultLimit } from './work.ts';

const mostMatches = 1000;

/** Deeper values would overflow the stack of recursive readers, including the server's own. */
const deepestData = 200;
/** Keeps parsed data below the memory limit of a thread, which cannot be terminated while it parses: a small object can take 360 bytes. */
const mostParts = 250_000;

const environment = new JSONPathEnvironment({ maxRecursionDepth: deepestData + 10 });

/** Evaluates an RFC 9535 query lazily: matches beyond the limits are never computed. Runs in a worker, because it may never end. */
export function queryJson(data: string, query: string): WorkOutcome {
  const { depth, parts } = boundsOf(data);
  if (depth > deepestData) return { failure: `The data is nested deeper than ${deepestData} levels.` };
  if (parts > mostParts) return { failure: `The data has more than ${mostParts} objects and lists.` };
  let compiled;
  try {
    compiled = environment.compile(query);
  } catch (error) {
    return { failure: `The query is not valid JSONPath (RFC 9535): ${error instanceof Error ? error.message : String(error)}.` };
  }

  const parsed: JSONValue = JSON.parse(data);
  const matches: string[] = [];
  const lines: string[] = [];
  let size = 0;
  let truncated = false;
  for (const node of compiled.lazyQuery(parsed)) {
    const path = node.getPath({ form: 'canonical' });
    const value = JSON.stringify(node.value);
    size += path.length + value.length;
    if (size > resultLimit || matches.length === mostMatches) {
      truncated = true;
      break;
    }
    matches.push(`{"path":${JSON.stringify(path)},"value":${value}}`);
    lines.push(`${path}: ${value}`);
  }
  if (truncated && matches.length === 0) {
    return { failure: `The first match is larger than ${resultLimit} characters. Query a smaller part of it.` };
  }
  if (truncated) lines.push(`There are more matches than these ${matches.length}. Narrow the query to see the rest.`);
  return { structured: `{"matches":[${matches.join(',')}],"truncated":${truncated}}`, text: lines.join('\n') || 'No match.' };
}

/** Scans the text without parsing it, so that no memory is used, however large the value is. */
function boundsOf(json: string): { depth: number; parts: number } {
  let level = 0;
  let depth = 0;
  let parts = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      parts++;
      depth = Math.max(depth, ++level);
    } else if (code === 0x5d || code === 0x7d) level--;
  }
  return { depth, parts };
}
