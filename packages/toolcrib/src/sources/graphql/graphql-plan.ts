/** How to call a tool. Stored with the tool. */
export interface GraphqlPlan {
  operation: 'query' | 'mutation';
  field: string;
  /** The address that the request is sent to. */
  endpoint: string;
  arguments: PlannedArgument[];
  /** The default selection with its braces; empty if the returned type has no fields. */
  selection: string;
  /** The returned type, whose fields are selected; null if it has none. */
  type: string | null;
  /** The name of the argument for another selection; null if there is none. */
  select: string | null;
}

export interface PlannedArgument {
  /** The name of the tool's argument, shortened if the name in the schema is too long. */
  argument: string;
  /** The name in the schema. */
  name: string;
  /** The type as the schema writes it: `[ID!]!`. */
  type: string;
}
