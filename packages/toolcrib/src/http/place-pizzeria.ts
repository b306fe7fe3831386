import type { Crib } from '../crib.ts';
import { pizzeriaAudience } from '../demo/pizzeria-api.ts';
import type { DevIssuer } from '../identity/dev-issuer.ts';
import { CribError } from '../model/crib-error.ts';
import type { OpenApiSource, SourceRecord } from '../model/source.ts';
import { openApiFormSchema } from '../sources/openapi/registration/openapi-form.ts';
import { developmentActor } from './development-actor.ts';
import { pizzeriaDocumentUrl } from './pizzeria-routes.ts';

interface PlacePizzeriaInput {
  baseUrl: string;
  issuer: DevIssuer;
  isNew: boolean;
}

const namespace = 'pizzeria';

/** Shows more of what happens on the way than the usual second would. */
const orderProfile = { completed_values: ['ready'], failed_values: ['burnt', 'cancelled'], interval_ms: 500, backoff: 1.2 };

/**
 * [SRC-5] Brings the pizzeria along: a source like any other, called as the user. It is made once. Later it is only told where it is, since
 * this server may have another address by then.
 */
export async function placePizzeria(crib: Crib, { baseUrl, issuer, isNew }: PlacePizzeriaInput): Promise<void> {
  const url = pizzeriaDocumentUrl(baseUrl);
  const known = [...crib.counter.sources.values()].find(isPizzeria);
  if (known === undefined ? !isNew : documentOf(known) === url) return;
  const { tools, limits, resilience, pinning, refresh_interval_ms } = known?.definition ?? {};
  const form = openApiFormSchema.parse({
    name: known?.name ?? 'Pizzeria',
    namespace: known?.namespace ?? namespace,
    enabled: known?.enabled ?? true,
    source_type: 'openapi',
    openapi: { url, async_poll: known?.definition.async_poll ?? { place_order: orderProfile } },
    credential: { type: 'token_exchange', audience: pizzeriaAudience, ...issuer.gatewayCredentials() },
    tools,
    limits,
    resilience,
    pinning,
    refresh_interval_ms,
  });
  try {
    if (known === undefined) await crib.sources.register(developmentActor, form);
    else await crib.sources.replace(developmentActor, known.id, form);
  } catch (error) {
    // Somebody has a source of that namespace, which comes before a demo.
    if (!(error instanceof CribError && error.code === 'CONFLICT')) throw error;
  }
}

export function hasPizzeria(crib: Crib): boolean {
  return [...crib.counter.sources.values()].some((source) => isPizzeria(source) && source.enabled);
}

/** Whatever somebody has called it since; what was made another source of is theirs. */
export function isPizzeria(source: SourceRecord): source is OpenApiSource {
  const url = URL.parse(documentOf(source) ?? '');
  return url?.hostname === '127.0.0.1' && url.href === pizzeriaDocumentUrl(url.origin);
}

function documentOf(source: SourceRecord): string | undefined {
  if (source.source_type !== 'openapi' || !('url' in source.definition.document)) return undefined;
  return source.definition.document.url;
}
