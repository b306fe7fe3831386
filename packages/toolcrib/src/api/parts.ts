import { z } from 'zod';
import { httpStatusByCode, type ErrorCode } from '../model/crib-error.ts';
import { origins } from '../model/origin.ts';

export const errorCodes = Object.keys(httpStatusByCode) as [ErrorCode, ...ErrorCode[]];
/** [EXEC-3] */
export const originSchema = z
  .enum(origins)
  .describe(
    'Who caused the failure: `tool`: the tool ran and reported a failure; `source`: the source is down, broken, or refuses the credential that Toolcrib has for it; `gateway`: Toolcrib itself; `caller`: the request was invalid, not allowed, or cancelled',
  );
export const epochMs = z.int().min(0).describe('Epoch milliseconds');

export const pageQuery = {
  cursor: z.string().max(600).optional().describe('`next_cursor` of the previous page'),
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('Entries per page; 100 by default'),
};

/** [EXEC-6] Every refused request is answered with this. */
export const refusalSchema = z.strictObject({
  code: z.enum(errorCodes),
  message: z.string().describe('What is wrong and what to do about it'),
  field: z.string().optional().describe('The invalid field, if it is one field'),
});

// --- for agents -----------------------------------------------------------------------------------------------------
