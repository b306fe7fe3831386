import type { JsonObject } from '../../../model/json.ts';
import type { GraphqlPlan } from '../graphql-plan.ts';

/** The request body: one operation that queries one field. Arguments that were not given are left out. */
export function operationBody(plan: GraphqlPlan, args: JsonObject, selection: string): string {
  const { operation, field } = plan;
  const given = plan.arguments.filter(({ argument }) => Object.hasOwn(args, argument));
  const declared = given.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const query = `${operation} ${field}${inBrackets(declared)} { ${field}${inBrackets(passed)} ${selection} }`;
  const variables = Object.fromEntries(given.map(({ argument, name }) => [name, args[argument]]));
  return JSON.stringify({ query, variables, operationName: field });
}

function inBrackets(text: string): string {
  return text === '' ? '' : `(${text})`;
}
