import type { z } from 'zod';
import type { Isolation, Turn } from '../../../isolation/isolation.ts';
import { CribError } from '../../../model/crib-error.ts';
import { deepestIssue } from '../../../model/deepest-issue.ts';
import { arazzoSchema, type ArazzoDocument } from './arazzo-document.ts';
import { parseText } from './parse-text.ts';

/** Parses an Arazzo document from JSON or YAML, with warnings about its text. Throws `VALIDATION_ERROR`. */
export async function readArazzo(
  text: string,
  isolation: Isolation,
  turn: Turn,
): Promise<{ document: ArazzoDocument; warnings: string[] }> {
  const { value, warnings } = await parseText(text, isolation, turn);
  const version = typeof value === 'object' && value !== null && 'arazzo' in value ? value.arazzo : undefined;
  if (typeof version !== 'string') throw wrong('This is not an Arazzo document: the field `arazzo` with the version is missing');
  if (!/^1\.0\.\d+$/.test(version)) throw wrong(`Arazzo ${version.slice(0, 40)} is not supported; use Arazzo 1.0`);
  const parsed = arazzoSchema.safeParse(value);
  if (!parsed.success) throw wrong(`The document is invalid: ${whatIsWrong(parsed.error)}`);
  const names = parsed.data.sourceDescriptions.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw wrong(`Two source descriptions are named ${twice}; rename one`);
  return { document: parsed.data, warnings };
}

/** The field, and what is wrong with it. */
export function whatIsWrong(error: z.ZodError): string {
  const issue = deepestIssue(error.issues[0]);
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return `${place}${issue?.message ?? 'it is not valid'}`;
}

function wrong(message: string): CribError {
  return new CribError('VALIDATION_ERROR', message);
}
