import type { Crib } from '../crib.ts';
import { pizzeriaAudience } from '../demo/pizzeria-api.ts';
import type { DevIssuer } from '../identity/development/dev-issuer.ts';
import { CribError } from '../model/crib-error.ts';
import type { DefinedSource, SourceRecord } from '../model/source.ts';
import type { OpenApiDefinition } from '../sources/openapi/openapi-definition.ts';
import { isOpenApiSource } from '../sources/openapi/source-type.ts';
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
 * [SRC-5] Brings the pizzeria along: a source like any other, called as the user. It is created once. Later only its address is updated,
 * since this server may have another one by then.
 */
export async function placePizzeria(crib: Crib, { baseUrl, issuer, isNew }: PlacePizzeriaInput): Promise<void> {
  const url = pizzeriaDocumentUrl(baseUrl);
  const known = [...crib.inventory.sources.values()].find(isPizzeria);
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
    // Another source has that namespace and takes precedence over a demo.
    if (!(error instanceof CribError && error.code === 'CONFLICT')) throw error;
  }
}

export function hasPizzeria(crib: Crib): boolean {
  return [...crib.inventory.sources.values()].some((source) => isPizzeria(source) && source.enabled);
}

/** True under any name; a source that somebody turned into another one is theirs. */
export function isPizzeria(source: SourceRecord): source is DefinedSource<OpenApiDefinition> {
  const url = URL.parse(documentOf(source) ?? '');
  return url?.hostname === '127.0.0.1' && url.href === pizzeriaDocumentUrl(url.origin);
}

function documentOf(source: SourceRecord): string | undefined {
  if (!isOpenApiSource(source) || !('url' in source.definition.document)) return undefined;
  return source.definition.document.url;
}
