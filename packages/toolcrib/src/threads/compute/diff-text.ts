import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import type { WorkOutcome } from './work.ts';
import { resultLimit } from './work.ts';

interface Texts {
  before: string;
  after: string;
  contextLines: number;
  name?: string;
}

/** A unified diff with its counts. Runs in a worker: two long texts with nothing in common take quadratic time. */
export function diffText({ before, after, contextLines, name }: Texts): WorkOutcome {
  if (before === after) return outcome('', 0, 0, 'The texts are identical.');
  const patch = structuredPatch(name ?? 'before', name ?? 'after', before, after, undefined, undefined, { context: contextLines });
  let added = 0;
  let removed = 0;
  for (const hunk of patch.hunks) {
    for (const line of hunk.lines) {
      if (line.startsWith('+')) added++;
      else if (line.startsWith('-')) removed++;
    }
  }
  const diff = formatPatch(patch, FILE_HEADERS_ONLY);
  return outcome(diff, added, removed, diff);
}

function outcome(diff: string, added: number, removed: number, text: string): WorkOutcome {
  const truncated = diff.length > resultLimit;
  const kept = truncated ? diff.slice(0, diff.lastIndexOf('\n', resultLimit) + 1).toWellFormed() : diff;
  const note = `The diff is cut here; it has ${diff.length} characters.`;
  return {
    structured: JSON.stringify({ identical: diff === '', added, removed, diff: kept, truncated }),
    text: truncated ? kept + note : text,
  };
}
