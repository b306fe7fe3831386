import type { z } from 'zod';
import type { Page } from './login-browser.ts';
import { LoginFault } from './login-report.ts';

/** The JSON of an answer, as far as we use it. */
export function readDocument<Schema extends z.ZodType>({ url, text, contentType }: Page, schema: Schema): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const page = contentType.includes('html') ? 'a web page' : 'something else';
    throw new LoginFault(`${nameOf(url)} answers with ${page} and not with JSON`, 'send requests for this path to the server that has it');
  }
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw new LoginFault(`${nameOf(url)} has a bad ${issue?.path.join('.') || 'form'}: ${issue?.message}`, 'correct the document');
}

/** Without the query, which may hold more than should be shown. */
export function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
