import { z } from 'zod';

/** Of a document, and of all that it refers to. */
export const mostDocumentBytes = 33_554_432;

/** [SRC-5] Where a document is, as a registration says it: exactly one of these. */
export const documentFields = {
  url: z.string().max(2048).optional().describe('Where the document is fetched'),
  file: z
    .string()
    .max(4096)
    .optional()
    .describe(
      'The absolute path of the document on the machine of the server; that it may be read there needs the permission to run commands',
    ),
  text: z
    .string()
    .max(mostDocumentBytes)
    .optional()
    .describe('The document itself. A replacement that gives none of the three keeps the one that is stored'),
};

export interface DocumentForm {
  url?: string | undefined;
  file?: string | undefined;
  text?: string | undefined;
  /** The hash of a stored text that is kept. Not for people: put there where a registration is replaced. */
  stored?: string | undefined;
}
