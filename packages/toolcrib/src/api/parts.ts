import { z } from 'zod';
import { httpStatusByCode, type ErrorCode } from '../model/crib-error.ts';
import { origins } from '../model/origin.ts';

export const errorCodes = Object.keys(httpStatusByCode) as [ErrorCode, ...ErrorCode[]];
/** [EXEC-3] */
export const originSchema = z
  .enum(origins)
  .describe(
    'Whose failure it is: `tool`: it ran and says that it failed; `source`: it is down, broken or refuses the credential that Toolcrib has for it; `gateway`: Toolcrib itself; `caller`: what was sent does not fit, is not allowed, or was called off',
  );
export const epochMs = z.int().min(0).describe('Epoch milliseconds');

export const pageQuery = {
  cursor: z.string().max(600).optional().describe('Where the page before ended'),
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('How many on one page; 100 unless told'),
};

/** [EXEC-6] Every refused request is answered with this. */
export const refusalSchema = z.strictObject({
  code: z.enum(errorCodes),
  message: z.string().describe('What is wrong and what to do about it'),
  field: z.string().optional().describe('The input at fault, where one is'),
});

// --- for agents -----------------------------------------------------------------------------------------------------
