import { hash } from 'node:crypto';
import type { ListQuery } from '../api.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { Access } from '../policy/access.ts';
import { renderList } from './list-formats.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';

const defaultLimit = 1000;
/** Of a search the first ones are wanted; all that fit at all can be most of the list. */
const defaultFound = 10;
/** Rendered pages kept per set of rights; searches are too many to keep. */
const maxKeptPages = 32;

export interface ListPage {
  etag: string;
  /** Renders the page, or takes it from memory. */
  body(): string;
}

/** [BFF-1] The caller's list. The ETag is known without rendering anything, so an unchanged list costs next to nothing. */
export function createToolList({
  inventory,
}: {
  inventory: Inventory;
}): (principal: Principal, query: ListQuery, publicUrl: string) => ListPage {
  const keptPages = new WeakMap<readonly Tool[], Map<string, string>>();

  function select(access: Access, query: ListQuery): readonly Tool[] {
    const tools = query.q === undefined ? access.tools : inventory.search(access, query.q);
    if (query.group === undefined) return tools;
    const belongs = inventory.rules.groups.get(query.group);
    // A group the caller gets nothing from and one that does not exist look alike.
    return belongs === undefined ? [] : tools.filter(belongs);
  }

  function render(access: Access, query: ListQuery, publicUrl: string): string {
    const tools = select(access, query);
    const isWholeManual = query.format === 'utcp' && query.q === undefined;
    const limit = isWholeManual ? tools.length : (query.limit ?? (query.q === undefined ? defaultLimit : defaultFound));
    const start =
      query.q === undefined ? startAfter(tools, decodeCursor(query.cursor, 'string')) : (decodeCursor(query.cursor, 'number') ?? 0);
    const page = tools.slice(start, start + limit);
    const more = start + limit < tools.length;
    const next = more ? encodeCursor(query.q === undefined ? (page.at(-1)?.name ?? '') : start + limit) : null;
    return renderList(page, { format: query.format, view: query.view, total: tools.length, next, publicUrl });
  }

  return (principal, query, publicUrl) => {
    refusePagesOfManual(query);
    refuseTwoForms(query);
    const access = inventory.accessOf(principal);
    const key = JSON.stringify([
      query.q,
      query.group,
      query.cursor,
      query.limit,
      query.format,
      query.view,
      query.format === 'utcp' ? publicUrl : '',
    ]);
    // The group's own definition takes part only through the rules' revision.
    const scope = query.group === undefined ? '' : inventory.rules.revision;
    const etag = `"${access.fingerprint}.${hash('sha256', `${scope}${key}`, 'base64url').slice(0, 12)}"`;
    return {
      etag,
      body() {
        if (query.q !== undefined || query.group !== undefined) return render(access, query, publicUrl);
        const pages = keptPages.get(access.tools) ?? new Map<string, string>();
        keptPages.set(access.tools, pages);
        const page = pages.get(key) ?? render(access, query, publicUrl);
        if (pages.size >= maxKeptPages) pages.clear();
        pages.set(key, page);
        return page;
      },
    };
  };
}

function refuseTwoForms({ format, view }: ListQuery): void {
  if (view !== 'compact' || format === undefined) return;
  throw new CribError('VALIDATION_ERROR', 'view=compact is a form of its own: leave out format, or view', { field: 'view' });
}

/** [UTCP-1] A manual has no room for the address of its next page, so it is whole, or has the first tools of a search. */
function refusePagesOfManual({ format, cursor, limit, q }: ListQuery): void {
  if (format !== 'utcp' || (cursor === undefined && (limit === undefined || q !== undefined))) return;
  const field = cursor === undefined ? 'limit' : 'cursor';
  throw new CribError('VALIDATION_ERROR', `A UTCP manual is given whole: leave out ${field}, or narrow it with q or group`, { field });
}

/** By name and not by number, so that a tool which comes or goes between two pages neither repeats nor hides another. */
function startAfter(tools: readonly Tool[], name: string | undefined): number {
  if (name === undefined) return 0;
  if (name === '') throw new CribError('VALIDATION_ERROR', 'cursor is empty', { field: 'cursor' });
  const index = tools.findIndex((tool) => tool.name > name);
  return index < 0 ? tools.length : index;
}
