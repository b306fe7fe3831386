/** npx and uvx print these when they could not fetch or run the package: the server never got our question. */
const launcherFailed = /^npm (?:error|ERR!)|^error: |No solution found/m;

/** A program that ended while it was loading had not begun to read its input. */
const loadingFailed =
  /\bat ModuleJob\.run\b|\bat Module\._compile\b|node:internal\/modules|ERR_MODULE_NOT_FOUND|ModuleNotFoundError|ImportError|SyntaxError/;
const pythonFrame = /^\s*File ".*", line \d+, in (.+)$/gm;

/** A complaint to a person, which has nothing to do with our question. */
const complaint =
  /\b(?:error|fail(?:ed|ure)?|fatal|required?|requires|missing|must|invalid|usage|cannot|can't|unable|denied|no such|not (?:set|found|exist|configured|provided)|unknown option|unrecogni[sz]ed)\b/i;
const aboutProtocol = /initiali[sz]|server\/discover|json-?rpc|protocol|handshake|method|request|message|session/i;
const trace = /Traceback \(most recent call last\)|^\s+at .+:\d+|^panic:|goroutine \d+|panicked at|stack backtrace/m;

/**
 * [MCP-1] Whether the last lines of a process say that it ended for a reason of its own. Old servers end on our first question too, often
 * silently or with a stack trace. In doubt the answer is no, because starting it again costs little.
 */
export function endedForItsOwnReason(lastWords: readonly string[]): boolean {
  const said = lastWords.join('\n');
  if (launcherFailed.test(said) || loadingFailed.test(said)) return true;
  const innermost = [...said.matchAll(pythonFrame)].at(-1)?.[1];
  if (innermost === '<module>') return true;
  return complaint.test(said) && !aboutProtocol.test(said) && !trace.test(said);
}
