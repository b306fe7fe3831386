import type { SecurityRequirement } from '../../../model/http-operation.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { createToolBudget, type ToolBudget, type ToolBudgetInput } from '../../documents/tool-budget.ts';

interface ToolTallyInput extends ToolBudgetInput {
  /** [OAS-4] A credential that meets this requirement. */
  suggest(requirement: SecurityRequirement): JsonObject | null;
}

/** The tools of a document within the budget, with their servers and security requirements. */
export interface ToolTally extends Omit<ToolBudget, 'report'> {
  report(): Pick<ImportReport, 'tools' | 'tokens' | 'advice' | 'servers' | 'security'>;
}

export function createToolTally({ suggest, ...input }: ToolTallyInput): ToolTally {
  const budget = createToolBudget(input);
  const servers = new Set<string>();
  const schemes = new Map<string, ImportReport['security'][number]>();

  function count({ operation }: DiscoveredTool): void {
    if (operation === undefined) return;
    servers.add(operation.server);
    const wanted = new Map(operation.security.flat().map((requirement) => [requirement.scheme, requirement]));
    for (const requirement of wanted.values()) {
      const { scheme, type, in: place, name } = requirement;
      const known = schemes.get(scheme);
      if (known !== undefined) known.operations++;
      else schemes.set(scheme, { scheme, type, in: place, name, operations: 1, credential: suggest(requirement) });
    }
  }

  return {
    has: budget.has,
    check: budget.check,
    add(tool) {
      budget.add(tool);
      count(tool);
    },
    report: () => ({ ...budget.report(), servers: [...servers], security: [...schemes.values()] }),
  };
}
