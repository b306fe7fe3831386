import { ToolNotFoundError } from '../model/named-errors.ts';

/** The same words for a tool that is not there and one the caller may not use, so that neither can be told from the other. */
export function noSuchTool(suggested: readonly string[] = []): ToolNotFoundError {
  return new ToolNotFoundError(noSuchToolMessage(suggested, 'GET /api/bff/tools lists those you may use.'), {
    origin: 'caller',
    details: { suggested: [...suggested] },
  });
}

/** `listed` says how the caller finds out which tools there are. */
export function noSuchToolMessage(suggested: readonly string[], listed: string): string {
  const meant = suggested.length === 0 ? '' : ` Did you mean ${either(suggested)}?`;
  return `There is no such tool for you.${meant} ${listed}`;
}

/** `a`, `a or b`, `a, b or c`. */
function either(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
