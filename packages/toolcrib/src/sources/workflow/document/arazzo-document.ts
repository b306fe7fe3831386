import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';

/** Names and ids that the document defines. They become part of messages and of the names of durable steps. */
const id = z.string().regex(/^(?!__proto__$)[A-Za-z0-9_.-]{1,128}$/, 'Use only letters, digits and . _ -, at most 128 characters');
const text = z.string().max(100_000);
const json = z.custom<Json>((value) => value !== undefined, 'A value is required');
const expression = z.string().max(2000);
const outputs = z.record(id, expression).default({});

/** A strict object, except for the specification's extensions: fields that begin with `x-`. */
function fields<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(withoutExtensions, z.strictObject(shape));
}

function withoutExtensions(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith('x-')));
}

const criterion = fields({
  context: expression.optional(),
  condition: z.string().min(1).max(4000),
  type: z
    .union([
      z.enum(['simple', 'regex', 'jsonpath', 'xpath']),
      fields({ type: z.enum(['jsonpath', 'xpath']), version: z.string().max(100) }),
    ])
    .default('simple'),
});
export type ArazzoCriterion = z.infer<typeof criterion>;

const criteria = z.array(criterion).max(100).default([]);

export const parameterSchema = fields({
  name: z.string().min(1).max(500),
  in: z.enum(['path', 'query', 'header', 'cookie']).optional(),
  value: json,
});
export type ArazzoParameter = z.infer<typeof parameterSchema>;

const target = { stepId: id.optional(), workflowId: z.string().max(500).optional(), criteria };

export const successActionSchema = fields({ name: z.string().max(500), type: z.enum(['end', 'goto']), ...target });

export const failureActionSchema = fields({
  name: z.string().max(500),
  type: z.enum(['end', 'goto', 'retry']),
  retryAfter: z.number().min(0).max(86_400).default(0),
  retryLimit: z.int().min(0).max(1000).default(1),
  ...target,
});
export type ArazzoAction = z.infer<typeof successActionSchema> | z.infer<typeof failureActionSchema>;

const reusable = z.object({ reference: expression, value: json.optional() });
export type Reusable = z.infer<typeof reusable>;

const parameters = z
  .array(z.union([reusable, parameterSchema]))
  .max(500)
  .default([]);
const successActions = z
  .array(z.union([reusable, successActionSchema]))
  .max(100)
  .default([]);
const failureActions = z
  .array(z.union([reusable, failureActionSchema]))
  .max(100)
  .default([]);

const stepSchema = fields({
  stepId: id,
  description: text.default(''),
  operationId: z.string().max(1000).optional(),
  operationPath: z.string().max(4000).optional(),
  workflowId: z.string().max(1000).optional(),
  parameters,
  requestBody: fields({
    contentType: z.string().max(500).optional(),
    payload: json.optional(),
    replacements: z
      .array(fields({ target: z.string().max(2000), value: json }))
      .max(500)
      .default([]),
  }).optional(),
  successCriteria: criteria,
  onSuccess: successActions,
  onFailure: failureActions,
  outputs,
});
export type ArazzoStep = z.infer<typeof stepSchema>;

export const workflowSchema = fields({
  workflowId: id,
  summary: text.default(''),
  description: text.default(''),
  inputs: z.record(z.string(), json).optional(),
  dependsOn: z.array(z.string().max(1000)).max(100).default([]),
  steps: z.array(stepSchema).min(1).max(500),
  successActions,
  failureActions,
  outputs,
  parameters,
});
export type ArazzoWorkflow = z.infer<typeof workflowSchema>;

const section = z.record(id, json).default({});

/** The document, with unchecked workflows and components: an invalid one must not affect the others. */
export const arazzoSchema = fields({
  arazzo: z.string().max(100),
  info: fields({ title: text.min(1), summary: text.default(''), description: text.default(''), version: z.string().max(200) }),
  sourceDescriptions: z
    .array(fields({ name: id, url: z.string().max(2048), type: z.enum(['openapi', 'arazzo']).default('openapi') }))
    .min(1)
    .max(100),
  workflows: z.array(z.custom<JsonObject>(isObject, 'A workflow must be an object')).min(1).max(200),
  components: fields({ inputs: section, parameters: section, successActions: section, failureActions: section }).prefault({}),
});
export type ArazzoDocument = z.infer<typeof arazzoSchema>;
