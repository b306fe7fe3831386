import { z } from 'zod';
import type { RegistrationContext } from './registration-context.ts';
import { callLimitsSchema } from '../../model/call-limits.ts';
import { orNull } from './or-null.ts';
import { resilienceSchema, sourceDefinitionSchema } from '../../model/source-definition.ts';

const { tools, pinning, refresh_interval_ms, manual } = sourceDefinitionSchema.shape;

/** The fields of every registration that identify the source. */
export const namingFields = {
  id: orNull(z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'An id must be a UUID in lower case')).describe(
    'A UUID. The server makes one if none is given. It must match an id in the path',
  ),
  // Not required here, so that a missing name gets the message of SRC-10.
  name: orNull(z.string().max(200)).describe('Required. The name of the source, for people'),
  namespace: orNull(z.string().max(100)).describe(
    'The prefix of its tool names: at most 32 lower-case letters, digits, _ and -, beginning with a letter or a digit. By default it is made from the name of a new source; an update without it keeps it',
  ),
  enabled: z.boolean().default(true),
};

/** The fields of every registration about how the source is used. */
export const handlingFields = {
  resilience: orNull(resilienceSchema).describe('Timeouts and retries'),
  limits: orNull(callLimitsSchema).describe('Limits for all its tools together. A remote server has a circuit breaker by default'),
  tools: orNull(tools).describe('Which of its tools are used: globs of their names with `*`, or selectors'),
  pinning: orNull(pinning.unwrap()).describe(
    'off: new and changed tools are accepted; warn: changed tools are reported; quarantine: new and changed tools wait for approval. The default is that of the server: warn in development, quarantine with an issuer. A replacement without pinning keeps the stored value',
  ),
  refresh_interval_ms: orNull(refresh_interval_ms.unwrap()).describe('How often its tools are discovered again; 0 (default) means never'),
  manual: orNull(manual.unwrap()).describe(
    'The name of the UTCP call template or manual that the source comes from. All its tools get it as a tag',
  ),
};

/** The same fields for a definition. `usual` has the defaults of the server. */
export function handlingOf(form: z.infer<z.ZodObject<typeof handlingFields>>, usual: Pick<RegistrationContext, 'pinning'>) {
  const { resilience, limits, tools: chosen, pinning: pinned, refresh_interval_ms: interval, manual: named } = form;
  return { resilience, limits, tools: chosen, pinning: pinned ?? usual.pinning, refresh_interval_ms: interval, manual: named };
}

/** Plain http has to be chosen for each source. */
export const allowInsecureField = z
  .boolean()
  .default(false)
  .describe(
    'Allows plain http to another machine, which anyone on the network path can read. Development mode allows it anyway, with a warning',
  );
