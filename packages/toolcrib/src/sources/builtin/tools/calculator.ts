import { CribError } from '../../../model/crib-error.ts';
import { evaluate, longestExpression } from '../arithmetic/evaluate.ts';
import { printNumber, roundToSignificant } from '../arithmetic/significant-digits.ts';
import { textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { failedOutput, harmless, structuredOutput } from '../builtin-tool.ts';

export const calculatorTool: BuiltinTool = {
  definition: {
    name: 'calculator',
    title: 'Calculator',
    description:
      'Works out one arithmetic expression, to 15 significant digits. Use it instead of computing in your head. ' +
      'Operators: + - * / % (remainder) ^ (power), parentheses. Constants: pi, e, tau, phi. ' +
      'Functions: sqrt, cbrt, abs, sign, floor, ceil, trunc, round(x, places), min, max, exp, ln, log(x, base; 10 if left out), log2, log10, ' +
      'pow, hypot, factorial, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh (angles in radians), radians(deg), degrees(rad). ' +
      'Write products with * and numbers without thousands separators.',
    input_schema: {
      type: 'object',
      properties: {
        expression: {
          type: 'string',
          minLength: 1,
          maxLength: longestExpression,
          description: 'The expression, for example "(3 + 4) * 2 ^ 10 / sqrt(2)"',
        },
      },
      required: ['expression'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: { result: { type: 'number', description: 'The value of the expression' } },
      required: ['result'],
      additionalProperties: false,
    },
    annotations: { title: 'Calculator', ...harmless },
  },
  tags: ['math'],
  run(args) {
    const expression = textArgument(args, 'expression');
    try {
      const result = roundToSignificant(evaluate(expression));
      return structuredOutput({ result }, printNumber(result));
    } catch (error) {
      if (error instanceof CribError) return failedOutput(error.message);
      throw error;
    }
  },
};
