import { ValidationError } from '../../../model/named-errors.ts';

/** [HTTP-1] What cannot be written as the document wants it is refused before anything leaves. */
export function badArgument(argument: string, problem: string): ValidationError {
  const field = `arguments.${argument}`;
  return new ValidationError(`${field} ${problem}`, { field, origin: 'caller' });
}
