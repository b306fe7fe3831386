import { z } from 'zod';
import { callLimitsSchema, type CallLimits } from './call-limits.ts';
import type { JsonObject, JsonSchema } from './json.ts';
import type { HttpOperation } from './http-operation.ts';
import type { Retries } from './source-definition.ts';
import type { WorkflowPlan } from './workflow-plan.ts';

type ExecutionMode = 'mcp_call' | 'sync_http' | 'async_poll' | 'builtin' | 'workflow';

/** Only `active` tools are listed and callable. `hidden` is the administrator's wish, the others are found. */
export const toolStates = ['active', 'pending', 'quarantined', 'deprecated', 'hidden'] as const;
type ToolState = (typeof toolStates)[number];

/** [INV-3] Whether somebody has seen the definition: `new` while none of this tool was ever approved, `changed` while another one was. */
export const approvals = ['approved', 'new', 'changed'] as const;
export type Approval = (typeof approvals)[number];

/** What a source says of one of its tools. */
export interface ToolDefinition {
  /** The tool's own name within its source. */
  name: string;
  title?: string;
  description: string;
  input_schema: JsonSchema;
  output_schema?: JsonSchema;
  annotations?: JsonObject;
}

/** A definition with what the source knows beside it, for selectors and execution. */
export interface DiscoveredTool {
  definition: ToolDefinition;
  tags: string[];
  /** HTTP method and path, where the tool is an HTTP operation. */
  method?: string;
  path?: string;
  version?: string;
  execution_mode: ExecutionMode;
  /** [HTTP-1] What is sent for a call, where the tool is an HTTP operation. */
  operation?: HttpOperation;
  /** [WF-1] What is done for a call, where the tool is a workflow. */
  workflow?: WorkflowPlan;
  /** What its kind of source does for a call, in a form of its own. */
  plan?: JsonObject;
}

/** [INV-3] What the definition hash covers: also what is done for a call, so that a tool cannot be led elsewhere unseen. */
export type PinnedDefinition = ToolDefinition & Pick<DiscoveredTool, 'operation' | 'workflow' | 'plan'>;

/** Everything that the definition hash covers, in reading order; `request` is the first line of an operation. */
export const comparedFields = [
  'name',
  'title',
  'description',
  'request',
  'input_schema',
  'output_schema',
  'annotations',
  'operation',
  'workflow',
  'plan',
] as const;
export type ComparedField = (typeof comparedFields)[number];

/** [INV-5] What an administrator changed about a tool; survives every refresh. */
export const toolOverridesSchema = z.strictObject({
  hidden: z.boolean().optional().describe('Takes the tool off every list and makes it uncallable'),
  rename: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/)
    .optional()
    .describe("Shown in place of the source's own name for it; the source is still called by that one, and selectors still match it"),
  description: z.string().max(20_000).optional().describe('Shown in place of the description the source gives'),
  labels: z.record(z.string().min(1).max(64), z.string().max(256)).optional().describe('Free labels that group selectors can match'),
  limits: callLimitsSchema.optional(),
});
export type ToolOverrides = z.infer<typeof toolOverridesSchema>;

const { hidden, rename, description, labels, limits } = toolOverridesSchema.shape;

/** A change of overrides: what is absent stays, null takes an override away. */
export const toolOverridesChangeSchema = z.strictObject({
  hidden: hidden.nullable(),
  rename: z
    .union([rename.unwrap(), z.literal('')])
    .nullish()
    .describe('The name to show; empty removes it'),
  description: description.nullable(),
  labels: labels.nullable(),
  limits: limits.nullable(),
});
export type ToolOverridesChange = z.infer<typeof toolOverridesChangeSchema>;

/** One tool as the store keeps it: found definition and the administrator's overrides, side by side. */
export interface ToolRecord {
  tool_id: string;
  source_id: string;
  discovered: DiscoveredTool;
  definition_hash: string;
  state: Exclude<ToolState, 'hidden'>;
  /** [INV-3] The hash of the definition that was approved; null while none ever was. */
  approved_hash: string | null;
  /** The approved definition, where it is another than the one that was found last. */
  approved: PinnedDefinition | null;
  overrides: ToolOverrides;
  created_at: number;
  updated_at: number;
}

/** One tool as everybody else sees it: overrides applied, names made. */
export interface Tool {
  readonly tool_id: string;
  /** [NAME-1] `<namespace>:<tool>` */
  readonly name: string;
  /** [NAME-3] The name to show a model. */
  readonly model_name: string;
  readonly source_id: string;
  readonly source_name: string;
  readonly namespace: string;
  /** The definition as found; `definition.name` is what the source is called with. */
  readonly definition: ToolDefinition;
  readonly title: string | null;
  readonly description: string;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly method: string | null;
  readonly path: string | null;
  readonly version: string | null;
  readonly execution_mode: ExecutionMode;
  /** [POLL-2] [WF-2] Whether a call of the tool goes on after a crash. */
  readonly durable: boolean;
  readonly operation: HttpOperation | null;
  readonly workflow: WorkflowPlan | null;
  readonly plan: JsonObject | null;
  readonly definition_hash: string;
  /** [INV-3] Another than `definition_hash`, or null, while the definition waits for approval. */
  readonly approved_hash: string | null;
  readonly state: ToolState;
  readonly limits: CallLimits;
  /** What holds for all tools of its source together. */
  readonly source_limits: CallLimits;
  /** How long its source gives a call, where neither the caller nor an administrator says. */
  readonly timeout_ms: number | null;
  /** [EXEC-8] Null where a call is never tried again. */
  readonly retries: Retries | null;
  /** Changes when anything that a list shows of the tool changes. */
  readonly fingerprint: string;
}
