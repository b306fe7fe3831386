import type { z } from 'zod';
import type { Isolation, Turn } from '../../../isolation/isolation.ts';
import { CribError } from '../../../model/crib-error.ts';
import { deepestIssue } from '../../../model/deepest-issue.ts';
import { arazzoSchema, type ArazzoDocument } from './arazzo-document.ts';
import { parseText } from './parse-text.ts';

/** An Arazzo document, from JSON or YAML, and what is odd about its text. Throws `VALIDATION_ERROR`. */
export async function readArazzo(
  text: string,
  isolation: Isolation,
  turn: Turn,
): Promise<{ document: ArazzoDocument; warnings: string[] }> {
  const { value, warnings } = await parseText(text, isolation, turn);
  const version = typeof value === 'object' && value !== null && 'arazzo' in value ? value.arazzo : undefined;
  if (typeof version !== 'string') throw wrong('This is no Arazzo document: it has no field `arazzo` with a version in it');
  if (!/^1\.0\.\d+$/.test(version)) throw wrong(`This document is written in Arazzo ${version.slice(0, 40)}; 1.0 is understood`);
  const parsed = arazzoSchema.safeParse(value);
  if (!parsed.success) throw wrong(`The document is wrong: ${whatIsWrong(parsed.error)}`);
  const names = parsed.data.sourceDescriptions.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw wrong(`Two source descriptions are called ${twice}`);
  return { document: parsed.data, warnings };
}

/** Where, and what. */
export function whatIsWrong(error: z.ZodError): string {
  const issue = deepestIssue(error.issues[0]);
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return `${place}${issue?.message ?? 'it is not understood'}`;
}

function wrong(message: string): CribError {
  return new CribError('VALIDATION_ERROR', message);
}
