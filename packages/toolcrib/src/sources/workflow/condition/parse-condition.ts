import type { Json } from '../../../model/json.ts';
import { parseExpression, type Expression } from '../expression/parse-expression.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A simple condition of Arazzo 1.0.1. */
export type Condition =
  | { kind: 'literal'; value: Json }
  | { kind: 'expression'; expression: Expression }
  | { kind: 'member'; of: Condition; name: string }
  | { kind: 'not'; of: Condition }
  | { kind: 'and' | 'or'; left: Condition; right: Condition }
  | { kind: 'compare'; operator: Comparison; left: Condition; right: Condition };

/** Limits the recursion: the text is not trusted. */
const deepestNesting = 50;
const longestCondition = 4000;

const tokenPattern =
  /\s*(?:(?<operator>&&|\|\||[=!<>]=|[<>!(){}[\]])|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w$])|'(?<single>(?:[^']|'')*)'|"(?<double>[^"]*)"|(?<expression>\$[^\s=!<>&|(){}[\]']+)|\.(?<member>[A-Za-z_][\w-]*)|(?<word>true|false|null)\b)/y;

type Token = { kind: 'operator' | 'number' | 'string' | 'expression' | 'member' | 'word'; text: string };

/** Throws an `Error` that says what could not be parsed. */
export function parseCondition(text: string): Condition {
  if (text.length > longestCondition) throw new Error(`it is longer than ${longestCondition} characters`);
  const tokens = tokensOf(text);
  let at = 0;
  let depth = 0;

  const take = (...operators: string[]): string | undefined => {
    const token = tokens[at];
    if (token?.kind !== 'operator' || !operators.includes(token.text)) return undefined;
    at++;
    return token.text;
  };

  function readOr(): Condition {
    if (++depth > deepestNesting) throw new Error(`it is nested deeper than ${deepestNesting} levels`);
    let left = readAnd();
    while (take('||') !== undefined) left = { kind: 'or', left, right: readAnd() };
    depth--;
    return left;
  }

  function readAnd(): Condition {
    let left = readComparison();
    while (take('&&') !== undefined) left = { kind: 'and', left, right: readComparison() };
    return left;
  }

  function readComparison(): Condition {
    const left = readNot();
    const operator = take('==', '!=', '<', '<=', '>', '>=');
    return operator === undefined ? left : { kind: 'compare', operator: operator as Comparison, left, right: readNot() };
  }

  function readNot(): Condition {
    let nots = 0;
    while (take('!') !== undefined) nots++;
    let operand = readMembers(readOperand());
    // A double negation still converts the operand to a boolean.
    for (let left = nots === 0 ? 0 : 2 - (nots % 2); left > 0; left--) operand = { kind: 'not', of: operand };
    return operand;
  }

  function readMembers(of: Condition): Condition {
    let inner = of;
    for (;;) {
      const token = tokens[at];
      if (token?.kind === 'member') {
        at++;
        inner = { kind: 'member', of: inner, name: token.text };
      } else if (take('[') !== undefined) {
        const index = tokens[at++];
        if (index?.kind !== 'number' && index?.kind !== 'string') throw new Error('an index must be a number or a name in quotes');
        if (take(']') === undefined) throw new Error('an index must end with ]');
        inner = { kind: 'member', of: inner, name: index.text };
      } else return inner;
    }
  }

  function readOperand(): Condition {
    // Braces around a condition or an expression work like parentheses.
    const opened = take('(', '{');
    if (opened !== undefined) {
      const inner = readOr();
      if (take(opened === '(' ? ')' : '}') === undefined) throw new Error(`a ${opened} is not closed`);
      return inner;
    }
    const token = tokens[at++];
    switch (token?.kind) {
      case 'number':
        return { kind: 'literal', value: Number(token.text) };
      case 'string':
        return { kind: 'literal', value: token.text };
      case 'word':
        return { kind: 'literal', value: token.text === 'null' ? null : token.text === 'true' };
      case 'expression':
        return expressionOf(token.text);
      case 'member':
      case 'operator':
      case undefined:
        throw new Error(token === undefined ? 'it ends too early' : `unexpected ${token.text}`);
    }
  }

  const condition = readOr();
  const rest = tokens[at];
  if (rest !== undefined) throw new Error(`unexpected ${rest.text}`);
  return condition;
}

function expressionOf(text: string): Condition {
  const expression = parseExpression(text);
  if (expression === undefined) throw new Error(`${text} is not a valid expression`);
  return { kind: 'expression', expression };
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(tokenPattern);
  for (const end = text.trimEnd().length; pattern.lastIndex < end;) {
    const start = pattern.lastIndex;
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) throw new Error(`cannot parse ${text.slice(start).trim().slice(0, 40)}`);
    const { single, double, ...plain } = groups;
    if (single !== undefined || double !== undefined) tokens.push({ kind: 'string', text: single?.replaceAll("''", "'") ?? double ?? '' });
    for (const kind of ['operator', 'number', 'expression', 'member', 'word'] as const)
      if (plain[kind] !== undefined) tokens.push({ kind, text: plain[kind] });
  }
  return tokens;
}

/** Every expression in a condition. */
export function expressionsOf(condition: Condition): Expression[] {
  switch (condition.kind) {
    case 'literal':
      return [];
    case 'expression':
      return [condition.expression];
    case 'member':
    case 'not':
      return expressionsOf(condition.of);
    case 'and':
    case 'or':
    case 'compare':
      return [...expressionsOf(condition.left), ...expressionsOf(condition.right)];
  }
}
