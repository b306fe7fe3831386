import type { Isolation, Turn } from '../../isolation/isolation.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { ImportedDocument } from '../documents/imported-document.ts';
import type { Json, JsonSchema } from '../../model/json.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { PlannedWorkflow } from '../../model/workflow-plan.ts';
import { workflowSchema, type ArazzoDocument, type ArazzoWorkflow } from './document/arazzo-document.ts';
import { resolveParameter } from './document/components.ts';
import { readArazzo, whatIsWrong } from './document/read-arazzo.ts';
import type { RegisteredSource } from './plan/bind-operation.ts';
import { inputSchema } from './plan/input-schema.ts';
import { planWorkflow } from './plan/plan-workflow.ts';
import { createReachable } from './plan/reachable.ts';
import { Unsupported } from './unsupported.ts';

export interface WorkflowsInput {
  text: string;
  /** The document's address, which resolves relative ones. */
  url: URL | null;
  /** Finds the registered source for the source description of this name. */
  sources(name: string): RegisteredSource | undefined;
  isolation: Isolation;
  turn: Turn;
}

/**
 * [WF-1] Imports an Arazzo document: one tool for each workflow. A workflow that cannot be run as written is skipped and reported by name.
 * Throws `VALIDATION_ERROR` if the document as a whole cannot be read.
 */
export async function importWorkflows({ text, url, sources, isolation, turn }: WorkflowsInput): Promise<ImportedDocument> {
  const { document, warnings: ofText } = await readArazzo(text, isolation, turn);
  const { info, sourceDescriptions: descriptions, components } = document;
  const skipped: ImportReport['skipped'] = [];
  const warnings: ImportReport['warnings'] = ofText.map((message) => ({ operation: null, message }));
  const skip = (operation: string, reason: string) => skipped.push({ operation, reason });
  const workflows = readWorkflows(document, skip);

  const schemas = new Map<string, JsonSchema>();
  const planned = new Map<string, PlannedWorkflow | Unsupported>();
  for (const [id, workflow] of workflows) {
    const warn = (message: string) => warnings.push({ operation: id, message });
    planned.set(
      id,
      orUnsupported(() => {
        const inputs = inputSchema(workflow.inputs, components.inputs);
        schemas.set(id, inputs);
        return planWorkflow({ workflow, inputs, workflows, components, sources: { descriptions, find: sources }, warn });
      }),
    );
  }

  const shared = {
    source_urls: Object.fromEntries(descriptions.map(({ name, url: place }) => [name, absolute(place, url)])),
    component_values: componentValues(document),
  };
  const reachableFrom = createReachable(planned);
  const tools: DiscoveredTool[] = [];
  for (const [id, workflow] of workflows) {
    const reachable = orUnsupported(() => reachableFrom(id));
    if (reachable instanceof Unsupported) skip(id, reachable.message);
    else
      tools.push(
        toolOf(workflow, schemas.get(id) ?? {}, { version: info.version, plan: { workflow_id: id, workflows: reachable, ...shared } }),
      );
  }
  const size = tools.reduce((sum, { definition }) => sum + JSON.stringify(definition).length, 0);
  const report: ImportReport = {
    format: `Arazzo ${document.arazzo}`,
    operations: document.workflows.length,
    tools: tools.length,
    skipped,
    warnings: warnings.filter(({ operation }) => operation === null || tools.some(({ definition }) => definition.name === operation)),
    bytes: Buffer.byteLength(text),
    tokens: Math.ceil(size / 4),
    advice: null,
    servers: [],
    security: [],
    external_refs: [],
  };
  return { title: info.title, version: info.version, tools, report };
}

/** The workflows that can be read, by id. */
function readWorkflows(document: ArazzoDocument, skip: (id: string, reason: string) => void): Map<string, ArazzoWorkflow> {
  const workflows = new Map<string, ArazzoWorkflow>();
  const taken = new Set<string>();
  for (const [index, given] of document.workflows.entries()) {
    const parsed = workflowSchema.safeParse(given);
    const id = typeof given['workflowId'] === 'string' ? given['workflowId'].slice(0, 200) : `workflows.${index}`;
    if (!parsed.success) skip(id, whatIsWrong(parsed.error));
    // Tool names ignore letter case.
    else if (taken.has(id.toLowerCase())) skip(id, 'another workflow of this document has the same name');
    else {
      workflows.set(id, parsed.data);
      taken.add(id.toLowerCase());
    }
  }
  return workflows;
}

function toolOf(
  { workflowId, summary, description, outputs }: ArazzoWorkflow,
  inputs: JsonSchema,
  { version, plan }: { version: string; plan: NonNullable<DiscoveredTool['workflow']> },
): DiscoveredTool {
  const properties = Object.fromEntries(Object.keys(outputs).map((name) => [name, {}]));
  return {
    definition: {
      name: workflowId,
      ...(summary === '' ? {} : { title: summary }),
      description: description || summary || `Runs the workflow ${workflowId}`,
      input_schema: inputs,
      output_schema: { type: 'object', properties },
      ...(onlyReads(plan.workflows) ? { annotations: { readOnlyHint: true } } : {}),
    },
    tags: [],
    version,
    execution_mode: 'workflow',
    workflow: plan,
  };
}

/** A workflow is read-only if all its steps are. */
function onlyReads(workflows: PlannedWorkflow[]): boolean {
  return workflows.every(({ steps }) => steps.every(({ calls }) => 'workflow_id' in calls || calls.read_only));
}

/** Leaves out invalid parameters: they do no harm unless a workflow uses them. */
function componentValues({ components }: ArazzoDocument): NonNullable<DiscoveredTool['workflow']>['component_values'] {
  const values = Object.keys(components.parameters).flatMap((name): [string, Json][] => {
    const found = orUnsupported(() => resolveParameter({ reference: `$components.parameters.${name}` }, components));
    return found instanceof Unsupported ? [] : [[name, found.value]];
  });
  return Object.fromEntries(values);
}

function absolute(place: string, base: URL | null): string {
  return base === null ? place : (URL.parse(place, base.href)?.href ?? place);
}

function orUnsupported<Result>(work: () => Result): Result | Unsupported {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unsupported) return error;
    throw error;
  }
}
