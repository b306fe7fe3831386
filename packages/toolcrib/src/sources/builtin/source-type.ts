import { z } from 'zod';
import type { SourceForm } from '../registration/source-form.ts';
import { defineSourceType } from '../source-type.ts';
import { openBuiltinKind } from './builtin-kind.ts';
import type { SourceDefinition } from '../../model/source-definition.ts';

/** [BI-1] The tools that come with Toolcrib. They cannot be registered and have no definition. */
export const builtin = defineSourceType<SourceForm, SourceDefinition>({
  name: 'builtin',
  definition: z.null(),
  commandLine: null,
  boundTo: [],
  registration: null,
  open: openBuiltinKind,
});
