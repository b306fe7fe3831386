import { z } from 'zod';
import type { RegistrationContext } from './registration-context.ts';
import { callLimitsSchema } from '../../model/call-limits.ts';
import { orNull } from './or-null.ts';
import { resilienceSchema, sourceDefinitionSchema } from '../../model/source-definition.ts';

const { tools, pinning, refresh_interval_ms, manual } = sourceDefinitionSchema.shape;

/** What every registration says of the source as such, whatever its type. */
export const namingFields = {
  id: orNull(z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'An id is a UUID in small letters')).describe(
    'A UUID, made by the server unless given. Behind a path with an id it must be the same one',
  ),
  // Not required here, so that its absence is answered with the words of SRC-10.
  name: orNull(z.string().max(200)).describe('Required. What people call the source'),
  namespace: orNull(z.string().max(100)).describe(
    'Leads the names of its tools: at most 32 lower-case letters, digits, _ and -, beginning with a letter or a digit. Made from the name of a new source; an update that does not give it keeps it',
  ),
  enabled: z.boolean().default(true),
};

/** And of how it is used. */
export const handlingFields = {
  resilience: orNull(resilienceSchema).describe('How patient we are with the server, and how persistent'),
  limits: orNull(callLimitsSchema).describe('Limits for all its tools together; a remote server has a breaker by default'),
  tools: orNull(tools).describe('Which of its tools are taken: `*` globs of their names, or selectors'),
  pinning: orNull(pinning.unwrap()).describe(
    'off: new and changed tools are taken as they are; warn: changed ones are reported; quarantine: new and changed ones wait for approval. The default is that of the server: warn in development, quarantine with an issuer. A replacement that does not say keeps what was there',
  ),
  refresh_interval_ms: orNull(refresh_interval_ms.unwrap()).describe('How often its tools are asked for again; 0 (default) never does'),
  manual: orNull(manual.unwrap()).describe('The name of the UTCP call template or manual that it comes from; a tag of all its tools'),
};

/** The same as a definition takes it. `usual` is what the server does where the form says nothing. */
export function handlingOf(form: z.infer<z.ZodObject<typeof handlingFields>>, usual: Pick<RegistrationContext, 'pinning'>) {
  const { resilience, limits, tools: chosen, pinning: pinned, refresh_interval_ms: interval, manual: named } = form;
  return { resilience, limits, tools: chosen, pinning: pinned ?? usual.pinning, refresh_interval_ms: interval, manual: named };
}

/** Plain http is a choice of whoever registers it. */
export const allowInsecureField = z
  .boolean()
  .default(false)
  .describe('Allows http to another machine, where anybody on the way can read along. Development allows it anyway, with a warning');
