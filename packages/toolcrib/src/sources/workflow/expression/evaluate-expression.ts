import type { Json, JsonObject } from '../../../model/json.ts';
import { atPointer, memberOf } from '../../../model/json-pointer.ts';
import { parseExpression, type Expression, type Selection } from './parse-expression.ts';

/** The request and the response of a step. */
export interface Exchange {
  method: string;
  url: string;
  request: { header: JsonObject; query: JsonObject; path: JsonObject; body: Json | undefined };
  /** Null if there was no response. */
  status: number | null;
  /** Names in lower case. */
  headers: JsonObject;
  body: Json | undefined;
}

/** The values that expressions can refer to, at one moment of a call. */
export interface Scope {
  readonly inputs: JsonObject;
  /** The outputs of the workflow that the step called; empty if it called none. */
  readonly outputs: JsonObject;
  /** The outputs of the steps that succeeded, by step id. */
  readonly steps: ReadonlyMap<string, JsonObject>;
  /** The workflows that have ended in this call, by id. */
  readonly workflows: ReadonlyMap<string, { inputs: JsonObject; outputs: JsonObject }>;
  readonly sourceUrls: Readonly<Record<string, string>>;
  readonly componentValues: Readonly<Record<string, Json>>;
  readonly exchange: Exchange | null;
}

/** Undefined if the expression has no value. A value keeps its type. */
export function evaluateExpression(expression: Expression, scope: Scope): Json | undefined {
  const { exchange } = scope;
  switch (expression.kind) {
    case 'url':
      return exchange?.url;
    case 'method':
      return exchange?.method;
    case 'status':
      return exchange?.status ?? undefined;
    case 'request':
    case 'response':
      return exchange === null ? undefined : ofExchange(expression, exchange);
    case 'input':
      return select(scope.inputs, expression.selection);
    case 'output':
      return select(scope.outputs, expression.selection);
    case 'step':
      return select(scope.steps.get(expression.step), expression.selection);
    case 'workflow':
      return select(scope.workflows.get(expression.workflow)?.[expression.of], expression.selection);
    case 'source':
      return memberOf(scope.sourceUrls, expression.source);
    case 'component':
      return ofComponent(memberOf(scope.componentValues, expression.parameter), scope);
  }
}

/** The value of a component may be an expression, but not one that refers to another component. */
function ofComponent(value: Json | undefined, scope: Scope): Json | undefined {
  const expression = typeof value === 'string' ? parseExpression(value) : undefined;
  return expression === undefined || expression.kind === 'component' ? value : evaluateExpression(expression, scope);
}

function ofExchange(expression: Expression & { kind: 'request' | 'response' }, exchange: Exchange): Json | undefined {
  const { kind } = expression;
  if (expression.part === 'body') {
    let body = kind === 'request' ? exchange.request.body : exchange.body;
    for (const name of expression.names) body = memberOf(body, name);
    return expression.pointer === null ? body : atPointer(body, expression.pointer);
  }
  const fields = kind === 'response' ? exchange.headers : exchange.request[expression.part];
  // Header names ignore letter case.
  return memberOf(fields, expression.part === 'header' ? expression.name.toLowerCase() : expression.name);
}

function select(values: JsonObject | undefined, { name, pointer }: Selection): Json | undefined {
  const found = named(values, name);
  return pointer === null ? found : atPointer(found, pointer);
}

/** A dot is part of a name, or selects a property: the longest name that exists wins. */
function named(values: Json | undefined, name: string): Json | undefined {
  const whole = memberOf(values, name);
  if (whole !== undefined) return whole;
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const outer = memberOf(values, name.slice(0, dot));
    if (outer !== undefined) return named(outer, name.slice(dot + 1));
  }
  return undefined;
}
