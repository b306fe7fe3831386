import type { Answer } from '../../model/call.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import type { CallContext } from '../source.ts';

/** What a search says of one tool: enough to choose it. */
interface CatalogueEntry {
  name: string;
  model_name: string;
  title: string | null;
  description: string;
  /** The description on one line. */
  summary: string;
  /** Names of its parameters. */
  parameters: string[];
}

/**
 * [BI-2] The inventory and execution, as far as the tools about tools need them. Whoever implements it answers under the policy of the
 * principal given: a forbidden tool must look exactly like an unknown one.
 */
export interface ToolCatalogue {
  search(principal: Principal, query: string, limit: number): CatalogueEntry[];
  describe(principal: Principal, name: string): object | undefined;
  /** Names that the principal may have meant by one there is none of. */
  suggest(principal: Principal, name: string): string[];
  /** Throws `NOT_FOUND` where there is no such tool for the caller of `context`. */
  call(name: string, args: JsonObject, context: CallContext): Promise<Answer>;
}
