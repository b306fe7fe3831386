import { CribError } from '../../model/crib-error.ts';
import type { Json } from '../../model/json.ts';

/** [SRC-10] A registration that cannot be saved, with the field at fault. */
export function invalid(field: string, message: string, details?: Json): CribError {
  return new CribError('VALIDATION_ERROR', message, { field, details });
}
