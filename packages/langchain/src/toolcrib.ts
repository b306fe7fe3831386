import { callTool } from './call-tool.ts';
import { CribTool } from './crib-tool.ts';
import { createHttpClient, type HttpClientInput } from './http-client.ts';
import { readPages, selectedTools, type ListPage, type ToolSelection } from './list-tools.ts';
import type { ToolCall, ToolOptions } from './tool-call.ts';
import { openToolset, type Toolset, type ToolsetInput } from './toolset.ts';

export interface ToolcribOptions extends HttpClientInput, ToolOptions {}

/** One user's view of a running Toolcrib. */
export interface Toolcrib {
  /** The tools that the user may use at this moment. */
  tools(selection?: ToolSelection & { signal?: AbortSignal }): Promise<CribTool[]>;
  /** The same tools, kept current until the toolset is closed. */
  toolset(selection?: ToolSelection & Pick<ToolsetInput, 'onError'>): Promise<Toolset>;
}

/** [LC-1] A user's tools from a running Toolcrib. Create one for each user, because the token is that of one user. */
export function createToolcrib({ timeoutMs, onElicitation, ...address }: ToolcribOptions): Toolcrib {
  const client = createHttpClient(address);
  const call: ToolCall = (tool, args, options) => callTool(client, tool.tool_id, args, options);
  const toolsIn = (pages: readonly ListPage[], selection: ToolSelection) =>
    selectedTools(pages, selection).map((tool) => new CribTool(tool, call, { timeoutMs, onElicitation }));
  return {
    async tools({ signal, ...selection } = {}) {
      return toolsIn(await readPages(client, selection, { signal }), selection);
    },
    toolset({ onError, ...selection } = {}) {
      let pages: readonly ListPage[] = [];
      return openToolset({
        client,
        async read(signal) {
          const before = pages;
          pages = await readPages(client, selection, { before, signal });
          return pages === before ? undefined : toolsIn(pages, selection);
        },
        asks: selection.group !== undefined,
        onError,
      });
    },
  };
}
