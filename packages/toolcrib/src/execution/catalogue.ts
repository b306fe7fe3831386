import type { Inventory } from '../inventory/inventory.ts';
import { compactTool } from '../inventory/compact-tool.ts';
import { describeTool } from '../inventory/describe-tool.ts';
import { suggestTools } from '../inventory/suggest-tools.ts';
import type { Answer } from '../model/call.ts';
import type { ToolCatalogue } from '../sources/source-ports.ts';
import type { Executor } from './executor.ts';
import type { RequestRate } from '../resilience/request-rate.ts';
import { runWithin } from './run-within.ts';

interface CatalogueInput {
  inventory: Inventory;
  executor: () => Executor;
  /** A search is counted like one of the API's. */
  rate: RequestRate;
}

/** [BI-2] The tools about tools see exactly what their caller may see, and call through the same path. */
export function createCatalogue({ inventory, executor, rate }: CatalogueInput): ToolCatalogue {
  return {
    search(principal, query, limit) {
      rate(principal);
      const found = inventory.search(inventory.accessOf(principal), query).slice(0, limit);
      return found.map((tool) => {
        const { description: summary, parameters } = compactTool(tool);
        const { name, model_name, title, description } = tool;
        return { name, model_name, title, description, summary, parameters };
      });
    },
    describe: (principal, name) => {
      const tool = inventory.find(name);
      const permission = tool && inventory.accessOf(principal).permissions.get(tool.tool_id);
      return permission && describeTool(permission.tool);
    },
    suggest: (principal, name) => suggestTools(name, inventory.accessOf(principal).tools),
    call: async (name, args, context) => {
      const admitted = await executor().admit(context.principal, { tool: name, arguments: args, trace: context.trace });
      return forModel(await runWithin(executor(), admitted, context, (event) => context.progress(event)));
    },
  };
}

/** [EXEC-5] Only models call through a tool, and they read the text. */
async function forModel(answer: Answer): Promise<Answer> {
  if (!answer.success || answer.structured_content === null) return answer;
  // Loaded on first use, with all that writes YAML.
  const { formatForModel } = await import('./format-for-model.ts');
  const others = answer.content.filter(({ type }) => type !== 'text');
  return { ...answer, content: [{ type: 'text', text: formatForModel(answer) }, ...others] };
}
