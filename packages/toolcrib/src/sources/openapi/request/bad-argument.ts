import { ValidationError } from '../../../model/named-errors.ts';

/** [HTTP-1] Refuses an argument that cannot be written as the document requires, before any request is sent. */
export function badArgument(argument: string, problem: string): ValidationError {
  const field = `arguments.${argument}`;
  return new ValidationError(`${field} ${problem}`, { field, origin: 'caller' });
}
