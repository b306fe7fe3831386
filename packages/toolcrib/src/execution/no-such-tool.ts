import { ToolNotFoundError } from '../model/named-errors.ts';

/** How a caller of the API finds what there is; other doors have other words for it. */
export const listedByApi = 'GET /api/bff/tools lists those you may use.';

/** [BFF] The same words for a tool that is not there and one the caller may not use, so that neither can be told from the other. */
export function noSuchTool(suggested: readonly string[] = []): ToolNotFoundError {
  const meant = suggested.length === 0 ? '' : ` Did you mean ${either(suggested)}?`;
  return new ToolNotFoundError(`There is no such tool for you.${meant} ${listedByApi}`, {
    origin: 'caller',
    details: { suggested: [...suggested] },
  });
}

/** `a`, `a or b`, `a, b or c`. */
function either(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
