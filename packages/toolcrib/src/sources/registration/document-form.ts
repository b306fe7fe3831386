import { z } from 'zod';

/** The most bytes of one document, and of each document that it refers to. */
export const mostDocumentBytes = 33_554_432;

/** [SRC-5] The place or content of a document in a registration: exactly one of these. */
export const documentFields = {
  url: z.string().max(2048).optional().describe('The address of the document'),
  file: z
    .string()
    .max(4096)
    .optional()
    .describe('The absolute path of the document on the machine of the server. Needs the permission to run commands'),
  text: z
    .string()
    .max(mostDocumentBytes)
    .optional()
    .describe('The document itself. A replacement without url, file and text keeps the stored document'),
};

export interface DocumentForm {
  url?: string | undefined;
  file?: string | undefined;
  text?: string | undefined;
  /** The hash of a stored text to keep. Set by the server when a registration is replaced, never by people. */
  stored?: string | undefined;
}
