import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { DoorAddress } from './door-address.ts';

export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
export const modernVersion = '2026-07-28';

/** What the client can do for a tool that asks for it. */
export interface ClientAbilities {
  readonly elicitation: boolean;
  readonly sampling: boolean;
  readonly roots: boolean;
}

export const noAbilities: ClientAbilities = { elicitation: false, sampling: false, roots: false };

/** What the client has to offer for each request of a server. */
export const abilityFor: Readonly<Record<string, keyof ClientAbilities>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const nothingOffered: JsonObject = Object.freeze({});

/** The same in the words of the protocol. */
export function capabilitiesOf({ elicitation, sampling, roots }: ClientAbilities): JsonObject {
  if (!elicitation && !sampling && !roots) return nothingOffered;
  return { ...(elicitation && { elicitation: { form: {} } }), ...(sampling && { sampling: {} }), ...(roots && { roots: {} }) };
}

/** Whoever sent a request, and with what. */
export interface DoorCaller {
  readonly principal: Principal;
  readonly address: DoorAddress;
  /** A revision of the protocol. */
  readonly version: string;
  /** [DOOR-3] The name and version of the client, as it gave them. */
  readonly agent: string | null;
  readonly abilities: ClientAbilities;
}

const longestAgent = 200;
const isPlain = /^[ -~]*$/;

/** [DOOR-3] `name/version`, without control characters. */
export function agentOf(info: unknown): string | null {
  const { name, version } = (typeof info === 'object' && info !== null ? info : {}) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || name === '') return null;
  const text = typeof version === 'string' && version !== '' ? `${name}/${version}` : name;
  const shown = isPlain.test(text) ? text : text.replaceAll(/\p{C}/gu, '');
  return shown.slice(0, longestAgent);
}

export function abilitiesOf(capabilities: unknown): ClientAbilities {
  const { elicitation, sampling, roots } = (typeof capabilities === 'object' && capabilities !== null ? capabilities : {}) as Record<
    string,
    unknown
  >;
  return { elicitation: isOffered(elicitation) && offersForms(elicitation), sampling: isOffered(sampling), roots: isOffered(roots) };
}

function isOffered(capability: unknown): capability is object {
  return typeof capability === 'object' && capability !== null;
}

/** An empty object stands for forms, which were there first. */
function offersForms(elicitation: object): boolean {
  return 'form' in elicitation || !('url' in elicitation);
}
