import { z } from 'zod';
import { stampFields } from '../model/read-back.ts';
import { orList } from '../text/lists.ts';
import type { SourceForm } from './registration/source-form.ts';
import { sourceTypes } from './registry.ts';

const registrable = sourceTypes.flatMap(({ name, registration }) => (registration === null ? [] : [{ name, ...registration }]));
const alwaysThere = sourceTypes.filter(({ registration }) => registration === null);
const names = orList(registrable.map(({ name }) => name));

/** The message for an unknown type. */
const wrongType: z.core.$ZodDiscriminatedUnionParams = {
  error: ({ code }) => (code === 'invalid_union' ? `source_type must be ${names}` : undefined),
};

type Forms = [z.ZodObject, ...z.ZodObject[]];

function oneOf(forms: z.ZodObject[]): z.ZodDiscriminatedUnion<Forms, 'source_type'> {
  return z.discriminatedUnion('source_type', forms as Forms, wrongType);
}

/** The body of `POST /api/sources`, by `source_type`, which is `mcp` by default. */
export const sourceFormSchema = oneOf(registrable.map(({ form }) => form)) as unknown as z.ZodType<SourceForm>;

const { managed_by, created_at, updated_at } = stampFields;
const seen = z.unknown().optional().describe('Read-only; ignored');

/** Fields that the server observes. They change by themselves. */
export const seenFields = {
  status: seen,
  health: seen,
  breaker: seen,
  server: seen,
  import: seen,
  waiting: seen,
  outdated_secrets: seen,
};

/** [SRC-2] The fields of a response beside the registration, so that the response can be sent back as it is. */
const readBackFields = {
  definition: z.looseObject({}).nullish().describe('The definition that the registration results in. It cannot be changed itself'),
  ...seenFields,
  managed_by,
  created_at,
  updated_at,
};

/** A registration, alone or within the response of `GET`. */
export function replaced(form: z.ZodObject): z.ZodObject {
  return form.extend(readBackFields);
}

/** A source that cannot be changed can still be sent back as it is. */
const unchanged = alwaysThere.map(({ name }) =>
  z
    .strictObject({
      source_type: z.literal(name),
      id: stampFields.id,
      name: z.string().max(200),
      namespace: z.string().max(100),
      enabled: z.boolean(),
      ...readBackFields,
    })
    .describe('Comes with Toolcrib and cannot be changed. It can only be sent back as it is'),
);

/** The fields of a response beside the form. */
export interface ReadBack {
  definition?: object | null | undefined;
  managed_by?: unknown;
  created_at?: number | undefined;
  updated_at?: number | undefined;
}

/** The body of `PUT /api/sources/{id}`. */
export const replacedSourceFormSchema = oneOf([
  ...registrable.map(({ form, required, description }) => replaced(form).meta({ required: [...required], description })),
  ...unchanged,
]) as unknown as z.ZodType<SourceForm & ReadBack>;

// In a file, the namespace is the key of the source.
const unnamed = { id: true, namespace: true } as const;

/** [SRC-6] A source in a configuration file. */
export const wishedSourceFormSchema = oneOf(
  registrable.map(({ form, required, description }) => {
    const inFile = required.filter((field) => field !== 'name');
    return form.omit(unnamed).meta({ ...(inFile.length === 0 ? {} : { required: inFile }), description });
  }),
) as unknown as z.ZodType<SourceForm>;
