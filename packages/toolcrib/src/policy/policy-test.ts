import { z } from 'zod';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { createAccessBook, type Access } from './access.ts';
import { compilePattern } from './pattern.ts';
import { principalFromClaims } from './principal-from-claims.ts';
import type { Rules } from './rules.ts';

const toolsSchema = z.array(z.string().min(1).max(512)).max(1000).default([]);

/** [POL-3] The tools that a caller with these claims must be able to use, and those they must not. */
export const policyTestSchema = z.strictObject({
  name: z.string().trim().min(1).max(200).describe('A title for people'),
  claims: z.record(z.string(), z.unknown()).default({}).describe('Claims as in a token'),
  can: toolsSchema.describe('Names of tools, or `*` globs: all that match must be usable, and at least one must match'),
  cannot: toolsSchema.describe('Names of tools, or `*` globs: none that match may be usable'),
});
export type PolicyTest = z.infer<typeof policyTestSchema>;

export interface PolicyTestResult {
  name: string;
  /** `unknown`: it concerns sources whose tools are not known yet. */
  outcome: 'passed' | 'failed' | 'unknown';
  reasons: string[];
}

export interface TestedState {
  rules: Rules;
  tools: readonly Tool[];
  /** Namespaces of sources whose tools are not known yet. */
  undiscovered: readonly string[];
}

/** Asks the same function that decides calls. */
export function runPolicyTests(tests: readonly PolicyTest[], state: TestedState): PolicyTestResult[] {
  const book = createAccessBook(state);
  return tests.map(({ name, claims, can, cannot }) => {
    const access = book.accessOf(principalFromClaims(claims as JsonObject));
    const failures = [
      ...can.flatMap((pattern) => whyNot(pattern, access, state)),
      ...cannot.flatMap((pattern) => whyStill(pattern, access, state)),
    ];
    if (failures.length > 0) return { name, outcome: 'failed', reasons: failures };
    // A caller without any grant cannot use tools that are still to come either.
    const open = state.rules.granted(claims as JsonObject).length > 0 ? [...can, ...cannot] : can;
    const waiting = [...new Set(open.flatMap((pattern) => undiscoveredBy(pattern, state)))];
    if (waiting.length === 0) return { name, outcome: 'passed', reasons: [] };
    return { name, outcome: 'unknown', reasons: waiting.map((namespace) => `the tools of ${namespace} are not known yet`) };
  });
}

function whyNot(pattern: string, access: Access, state: TestedState): string[] {
  const matches = compilePattern(pattern);
  const found = state.tools.filter(({ name }) => matches(name));
  if (found.length === 0) return undiscoveredBy(pattern, state).length > 0 ? [] : [`can ${pattern}: there is no such tool`];
  return found
    .filter(({ tool_id }) => !access.permissions.has(tool_id))
    .map(({ name, state }) => `can ${name}: ${state === 'active' ? 'no policy grants it' : `the tool is ${state}`}`);
}

function whyStill(pattern: string, access: Access, { tools }: TestedState): string[] {
  const matches = compilePattern(pattern);
  return tools.flatMap(({ name, tool_id }) => {
    const permission = matches(name) ? access.permissions.get(tool_id) : undefined;
    return permission === undefined ? [] : [`cannot ${name}: it is granted by ${permission.policies.replaceAll(' ', ', ')}`];
  });
}

function undiscoveredBy(pattern: string, { undiscovered }: TestedState): string[] {
  const [namespace = ''] = pattern.split(':');
  return undiscovered.filter(compilePattern(namespace));
}
