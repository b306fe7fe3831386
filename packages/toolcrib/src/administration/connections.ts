import type { BegunConnection, Connections, FinishedAuthorization, ParkedConnection } from '../identity/oauth/connections.ts';
import type { Counter } from '../inventory/counter.ts';
import { connectUrl, redeemUrl, sourceOwner } from '../model/connection.ts';
import { isPerUser } from '../model/credential.ts';
import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { Speakers } from '../sources/upstream/speakers.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { createUserConnectionAdministration, type UserConnectionAdministration } from './user-connections.ts';

/** One connection that there is or could be. */
interface ShownConnection {
  source_id: string;
  source_name: string;
  namespace: string;
  /** For the caller's own calls, for finding the tools of the source, or for everything that is done with it. */
  for: 'calls' | 'discovery' | 'everybody';
  connected: boolean;
  connected_at: number | null;
  /** Where POST begins it and DELETE ends it. */
  connect_url: string;
  /** What a client that is registered by hand has to be registered with. */
  redirect_uri: string;
}

interface ConnectionOptions {
  /** Administrators may use every source, and make the connections with which tools are found. */
  administrator?: boolean;
  for?: 'calls' | 'discovery';
}

interface BeginOptions extends ConnectionOptions {
  /** Where a program on the caller's machine waits for the code that finishes it. */
  loopbackPort?: number | undefined;
}

/** [BFF-6] Everybody's own connections to sources; no one but an administrator sees or ends another's, and nobody uses it. */
export interface ConnectionAdministration {
  /** For administrators alone. */
  readonly ofUsers: UserConnectionAdministration;
  list(principal: Principal, options?: Pick<ConnectionOptions, 'administrator'>): Promise<ShownConnection[]>;
  /** The address at which the user allows it, and where they finish it afterwards. */
  begin(principal: Principal, sourceId: string, options?: BeginOptions): Promise<BegunConnection & { redeem_url: string }>;
  /** What a browser came back with; the state says who began it. Nothing is connected yet. */
  park(sourceId: string, response: FinishedAuthorization): Promise<ParkedConnection & { source: SourceRecord }>;
  /** Finishes it: only for the one who began it, with the code that only the browser that came back was shown. */
  redeem(principal: Principal, sourceId: string, code: string, options?: ConnectionOptions): Promise<ShownConnection>;
  revoke(principal: Principal, sourceId: string, options?: ConnectionOptions): Promise<void>;
}

interface ConnectionAdministrationInput {
  counter: Counter;
  supervisor: Supervisor;
  connections: Connections;
  speakers: Speakers;
  /** Where browsers reach us. */
  publicUrl: string;
}

export function createConnectionAdministration(input: ConnectionAdministrationInput): ConnectionAdministration {
  const { counter, supervisor, connections, speakers } = input;
  const callbacks = `${input.publicUrl.replace(/\/+$/, '')}/api/connections/callback`;
  /** RFC 9700 §4.4.2.2: another one for each source, against authorization servers that mix each other up. */
  const redirectUri = (sourceId: string) => `${callbacks}/${sourceId}`;

  function mayUse(principal: Principal, source: SourceRecord, { administrator = false }: ConnectionOptions): boolean {
    return administrator || counter.accessOf(principal).tools.some((tool) => tool.source_id === source.id);
  }

  /** A source that is not there and one that is not for the caller are answered alike. */
  function existing(principal: Principal, sourceId: string, options: ConnectionOptions, isOwn = (_id: string) => false): SourceRecord {
    const source = counter.sources.get(sourceId) ?? [...counter.sources.values()].find(({ namespace }) => namespace === sourceId);
    if (source === undefined || !(mayUse(principal, source, options) || isOwn(source.id))) {
      throw new CribError('NOT_FOUND', 'There is no such source for you. GET /api/connections lists those that want a connection');
    }
    if (!wantsConnection(source))
      throw new CribError(
        'CONFLICT',
        `${source.name} needs no connection${isPerUserSource(source) ? ': it is called with the token you come with' : ''}`,
      );
    return source;
  }

  function ownerFor(principal: Principal, source: SourceRecord, options: ConnectionOptions): string {
    const isShared = !isPerUserSource(source);
    if (options.for !== 'discovery' && !isShared) return principal.key;
    if (options.administrator !== true) throw new CribError('FORBIDDEN', 'The connection of a source itself is made by administrators');
    if (!isShared && !discoversByConnection(source)) {
      throw new CribError('CONFLICT', `${source.name} has no discovery_credential of the type oauth: give it one first`);
    }
    return sourceOwner;
  }

  async function changed(sourceId: string, owner: string): Promise<void> {
    await supervisor.endSessionsOf(sourceId, owner);
    if (owner === sourceOwner) supervisor.reconnect(sourceId);
  }

  function show(source: SourceRecord, purpose: ShownConnection['for'], connectedAt: number | undefined): ShownConnection {
    const { id, name, namespace } = source;
    return {
      source_id: id,
      source_name: name,
      namespace,
      for: purpose,
      connected: connectedAt !== undefined,
      connected_at: connectedAt ?? null,
      connect_url: connectUrl(id, purpose === 'discovery' ? sourceOwner : ''),
      redirect_uri: redirectUri(id),
    };
  }

  return {
    ofUsers: createUserConnectionAdministration(input),
    async list(principal, options = {}) {
      const [own, ofSources] = await Promise.all([connections.list(principal.key), connections.list(sourceOwner)]);
      // Also what was connected while it was still allowed, so that it can be ended.
      const shown = (source: SourceRecord) => wantsConnection(source) && (own.has(source.id) || mayUse(principal, source, options));
      const sources = [...counter.sources.values()].filter(shown);
      return sources.flatMap((source) => {
        const ofSource = ofSources.get(source.id);
        if (!isPerUserSource(source)) return options.administrator === true ? [show(source, 'everybody', ofSource)] : [];
        const forCalls = show(source, 'calls', own.get(source.id));
        const withDiscovery = options.administrator === true && discoversByConnection(source);
        return withDiscovery ? [forCalls, show(source, 'discovery', ofSource)] : [forCalls];
      });
    },
    async begin(principal, sourceId, options = {}) {
      const source = existing(principal, sourceId, options);
      const owner = ownerFor(principal, source, options);
      const begun = await connections.begin(await speakers.of(source, owner), {
        redirectUri: redirectUri(source.id),
        begunBy: principal.name ?? principal.subject,
        by: changedBy(principal),
        loopbackPort: options.loopbackPort,
      });
      return { ...begun, redeem_url: redeemUrl(source.id, options.for === 'discovery' ? sourceOwner : '') };
    },
    async park(sourceId, response) {
      const parked = await connections.park(sourceId, response);
      const source = counter.sources.get(sourceId);
      if (source === undefined) throw new CribError('NOT_FOUND', 'The source was removed in the meantime');
      return { ...parked, source };
    },
    async redeem(principal, sourceId, code, options = {}) {
      const source = existing(principal, sourceId, options);
      const owner = ownerFor(principal, source, options);
      await connections.redeem(await speakers.of(source, owner), { code, by: changedBy(principal) });
      await changed(source.id, owner);
      const purpose = owner !== sourceOwner ? 'calls' : isPerUserSource(source) ? 'discovery' : 'everybody';
      return show(source, purpose, (await connections.list(owner)).get(source.id));
    },
    async revoke(principal, sourceId, options = {}) {
      // Whoever may not use a source any more may still end what they once allowed.
      const connected = await connections.list(principal.key);
      const source = existing(principal, sourceId, options, (id) => connected.has(id));
      const owner = ownerFor(principal, source, options);
      const settings = async () => (await speakers.of(source, owner)).settings;
      const revoked = await connections.revoke({ sourceId: source.id, owner }, settings, changedBy(principal));
      await changed(source.id, owner);
      if (!revoked) throw new CribError('NOT_FOUND', `There is no connection to ${source.name} that could be ended`);
    },
  };
}

function wantsConnection({ definition }: SourceRecord): boolean {
  return definition?.credential.type === 'oauth';
}

function isPerUserSource({ definition }: SourceRecord): boolean {
  return definition !== null && isPerUser(definition.credential);
}

function discoversByConnection({ definition }: SourceRecord): boolean {
  return definition?.discovery_credential?.type === 'oauth';
}
