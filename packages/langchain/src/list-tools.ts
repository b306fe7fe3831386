import type { ListedTool } from 'toolcrib/api';
import type { HttpClient } from './http-client.ts';

/** Selects some of the user's tools; all of them by default. */
export interface ToolSelection {
  /** Only tools of this group. */
  group?: string;
  /** Words to search for, in any phrasing; best matches come first. */
  q?: string;
  /** How many search results to return, at most 1000; 10 by default. */
  limit?: number;
  /** Only these tools, by name (`crm:find_customer`), model name or tool id. Tools that the user may not use are left out. */
  names?: readonly string[];
}

/** A page of the list, with its ETag for detecting changes. */
export interface ListPage {
  etag: string | null;
  tools: ListedTool[];
  next_cursor: string | null;
}

/**
 * [BFF-1] Reads all pages, or only the first of a search. Pages in `before` that have not changed are not sent again. Returns `before`
 * itself if nothing has changed.
 */
export async function readPages(
  client: HttpClient,
  { group, q, limit }: ToolSelection,
  { before = [], signal }: { before?: readonly ListPage[]; signal?: AbortSignal } = {},
): Promise<readonly ListPage[]> {
  const pages: ListPage[] = [];
  let cursor: string | null = null;
  do {
    const known: ListPage | undefined = before[pages.length];
    const query = new URLSearchParams(
      Object.entries({ group, q, limit: q && limit?.toString(), cursor }).filter((pair): pair is [string, string] => Boolean(pair[1])),
    );
    const response = await client.send('GET', `/api/bff/tools?${query.toString()}`, {
      headers: known?.etag == null ? {} : { 'if-none-match': known.etag },
      signal,
    });
    const page: ListPage =
      response.status === 304 && known !== undefined
        ? known
        : { ...((await client.read(response)) as Omit<ListPage, 'etag'>), etag: response.headers.get('etag') };
    pages.push(page);
    cursor = q ? null : page.next_cursor;
  } while (cursor !== null);
  const same = pages.length === before.length && pages.every((page, n) => page === before[n]);
  return same ? before : pages;
}

export function selectedTools(pages: readonly ListPage[], { names }: ToolSelection): ListedTool[] {
  const tools = pages.flatMap((page) => page.tools);
  if (names === undefined) return tools;
  const wanted = new Set(names);
  return tools.filter(({ name, model_name, tool_id }) => [name, model_name, tool_id].some((known) => wanted.has(known)));
}
