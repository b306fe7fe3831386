import type { Json } from './json.ts';

/** [WF-1] A workflow as it is carried out, bound to the tools that its steps call. Stored with the tool. */
export interface WorkflowPlan {
  workflow_id: string;
  /** Everything that a call may come to: the workflow itself, and those that it calls, goes to or depends on. */
  workflows: PlannedWorkflow[];
  /** `$sourceDescriptions`: the address of each, by name. */
  source_urls: Record<string, string>;
  /** `$components.parameters`: the value of each, by name. */
  component_values: Record<string, Json>;
}

export interface PlannedWorkflow {
  workflow_id: string;
  /** Workflows that are run before it, each once in a call. */
  depends_on: string[];
  /** The defaults of its inputs, by name. */
  defaults: Record<string, Json>;
  steps: PlannedStep[];
  /** Expressions, by name. */
  outputs: Record<string, string>;
}

export interface PlannedStep {
  step_id: string;
  description: string;
  calls: PlannedToolCall | { workflow_id: string };
  parameters: PlannedParameter[];
  body: PlannedBody | null;
  success_criteria: PlannedCriterion[];
  on_success: PlannedAction[];
  on_failure: PlannedAction[];
  /** Expressions, by name. */
  outputs: Record<string, string>;
}

export interface PlannedToolCall {
  tool_id: string;
  read_only: boolean;
  /** Whether it may be done again where nobody knows whether it was done. */
  repeatable: boolean;
  method: string;
  /** Server and path, with `{names}` in it. */
  url: string;
  /** [WF-2] The argument that takes a key under which the same request is done once, where there is one and the step gives none. */
  key_argument: string | null;
  /** Headers that the request has whatever the step says, in lower case. */
  headers: Record<string, string>;
}

export interface PlannedParameter {
  /** What the tool or workflow that is called has for its name. */
  argument: string;
  name: string;
  /** Null where a workflow is called. */
  in: 'path' | 'query' | 'header' | 'cookie' | null;
  value: Json;
}

export interface PlannedBody {
  argument: string;
  /** How a payload that is text becomes the argument. */
  text: 'json' | 'form' | 'xml' | 'text';
  payload: Json;
  /** `target` is a JSON Pointer. */
  replacements: { target: string; value: Json }[];
  /** Where the operation takes several media types, and the step names one. */
  choice?: { argument: string; content_type: string };
}

export interface PlannedCriterion {
  type: 'simple' | 'regex' | 'jsonpath';
  condition: string;
  /** Null where the condition says itself what it looks at. */
  context: string | null;
}

export interface PlannedAction {
  name: string;
  type: 'end' | 'goto' | 'retry';
  step_id: string | null;
  workflow_id: string | null;
  retry_after_ms: number;
  retry_limit: number;
  criteria: PlannedCriterion[];
}
