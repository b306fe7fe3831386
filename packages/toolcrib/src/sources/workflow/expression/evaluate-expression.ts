import type { Json, JsonObject } from '../../../model/json.ts';
import { atPointer, memberOf } from './json-pointer.ts';
import { parseExpression, type Expression, type Selection } from './parse-expression.ts';

/** What a step sent and what it got. */
export interface Exchange {
  method: string;
  url: string;
  request: { header: JsonObject; query: JsonObject; path: JsonObject; body: Json | undefined };
  /** Null where there was no answer. */
  status: number | null;
  /** Names in lower case. */
  headers: JsonObject;
  body: Json | undefined;
}

/** What expressions are about, at one moment of a call. */
export interface Scope {
  readonly inputs: JsonObject;
  /** Of this workflow where it has ended, of the one that a step called where it has. */
  readonly outputs: JsonObject;
  /** The outputs of the steps that were done, by their ids. */
  readonly steps: ReadonlyMap<string, JsonObject>;
  /** Of the workflows that were run in this call. */
  readonly workflows: ReadonlyMap<string, { inputs: JsonObject; outputs: JsonObject }>;
  readonly sourceUrls: Readonly<Record<string, string>>;
  readonly componentValues: Readonly<Record<string, Json>>;
  readonly exchange: Exchange | null;
}

/** Undefined where there is nothing. The type of a value stays what it is. */
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

/** Its value may be an expression, but not of another component. */
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
  // The names of headers are the same in capital letters.
  return memberOf(fields, expression.part === 'header' ? expression.name.toLowerCase() : expression.name);
}

function select(values: JsonObject | undefined, { name, pointer }: Selection): Json | undefined {
  const found = named(values, name);
  return pointer === null ? found : atPointer(found, pointer);
}

/** Names may have dots in them, and dots ask for properties: the longest name that is there is meant. */
function named(values: Json | undefined, name: string): Json | undefined {
  const whole = memberOf(values, name);
  if (whole !== undefined) return whole;
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const outer = memberOf(values, name.slice(0, dot));
    if (outer !== undefined) return named(outer, name.slice(dot + 1));
  }
  return undefined;
}
