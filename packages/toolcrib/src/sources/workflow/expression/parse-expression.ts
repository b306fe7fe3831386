/** A named value, or the part of it that a pointer selects. */
export interface Selection {
  name: string;
  /** A JSON Pointer; null for the whole value. */
  pointer: string | null;
}

/** A runtime expression of Arazzo 1.0.1. */
export type Expression =
  | { kind: 'url' | 'method' | 'status' }
  | { kind: 'request' | 'response'; part: 'header' | 'query' | 'path'; name: string }
  /** `names` are properties selected with dots. */
  | { kind: 'request' | 'response'; part: 'body'; names: string[]; pointer: string | null }
  | { kind: 'input' | 'output'; selection: Selection }
  | { kind: 'step'; step: string; selection: Selection }
  | { kind: 'workflow'; workflow: string; of: 'inputs' | 'outputs'; selection: Selection }
  | { kind: 'source'; source: string }
  | { kind: 'component'; parameter: string };

/** Text that begins like this is an expression; any other text with a dollar sign is literal. */
const beginning = /^\$(?:(?:url|method|statusCode)$|(?:request|response|inputs|outputs|steps|workflows|sourceDescriptions|components)\b)/;

export function isMeantAsExpression(text: string): boolean {
  return beginning.test(text);
}

const exchangePattern = /^\$(request|response)\.(?:(header|query|path)\.(.+)|body((?:\.[^.#]+)*)(?:#(.*))?)$/s;
const stepPattern = /^\$steps\.(.+?)\.outputs\.(.+)$/s;
/** Examples by the specification's own authors leave out `outputs`; nothing else can be meant. */
const shortStepPattern = /^\$steps\.([^.]+)\.([^.]+)$/;
const workflowPattern = /^\$workflows\.(.+?)\.(inputs|outputs)\.(.+)$/s;

/** Undefined if the text is not a valid expression. */
export function parseExpression(text: string): Expression | undefined {
  if (text === '$url' || text === '$method') return { kind: text === '$url' ? 'url' : 'method' };
  if (text === '$statusCode') return { kind: 'status' };
  const exchange = exchangePattern.exec(text);
  if (exchange !== null) return exchangeExpression(exchange);
  const own = /^\$(input|output)s\.(.+)$/s.exec(text);
  if (own !== null) return selecting(own[2], (selection) => ({ kind: own[1] as 'input' | 'output', selection }));
  const step = stepPattern.exec(text) ?? shortStepPattern.exec(text);
  if (step !== null) return selecting(step[2], (selection) => ({ kind: 'step', step: step[1] ?? '', selection }));
  const workflow = workflowPattern.exec(text);
  if (workflow !== null) {
    const of = workflow[2] as 'inputs' | 'outputs';
    return selecting(workflow[3], (selection) => ({ kind: 'workflow', workflow: workflow[1] ?? '', of, selection }));
  }
  const source = /^\$sourceDescriptions\.(.+)\.url$/s.exec(text);
  if (source !== null) return { kind: 'source', source: source[1] ?? '' };
  const component = /^\$components\.parameters\.(.+)$/s.exec(text);
  if (component !== null) return { kind: 'component', parameter: component[1] ?? '' };
  return undefined;
}

function exchangeExpression([, side, part, name, dotted, pointer]: RegExpExecArray): Expression | undefined {
  const kind = side as 'request' | 'response';
  if (part !== undefined) {
    // A response has only headers and a body.
    if (kind === 'response' && part !== 'header') return undefined;
    return { kind, part: part as 'header' | 'query' | 'path', name: name ?? '' };
  }
  if (pointer !== undefined && !isPointer(pointer)) return undefined;
  return { kind, part: 'body', names: (dotted ?? '').split('.').slice(1), pointer: pointer ?? null };
}

function selecting(text: string | undefined, make: (selection: Selection) => Expression): Expression | undefined {
  const [name = '', ...rest] = (text ?? '').split('#');
  const pointer = rest.length === 0 ? null : rest.join('#');
  if (name === '' || (pointer !== null && !isPointer(pointer))) return undefined;
  return make({ name, pointer });
}

/** RFC 6901. */
function isPointer(text: string): boolean {
  return /^(?:\/(?:[^/~]|~[01])*)*$/s.test(text);
}
