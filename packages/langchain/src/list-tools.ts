import type { ListedTool } from 'toolcrib/api';
import type { HttpClient } from './http-client.ts';

/** Which of the user's tools are wanted; all of them unless something is said. */
export interface ToolSelection {
  /** Only tools of this group. */
  group?: string;
  /** What is looked for, in any words; the tools then come in the order of how well they fit. */
  q?: string;
  /** How many of those found, at most 1000; 10 unless told. */
  limit?: number;
  /** Only these, by name (`crm:find_customer`), model name or tool id. One that is not there for the user is left out. */
  names?: readonly string[];
}

/** The pages of a list, each with the tag by which an unchanged one is known. */
export interface ListPage {
  etag: string | null;
  tools: ListedTool[];
  next_cursor: string | null;
}

/** [BFF-1] All pages, but of a search the first one; of `before`, what has not changed is not sent again. The very same pages where nothing has changed. */
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
