import type { BegunConnection, Connections, FinishedAuthorization, ParkedConnection } from '../identity/oauth/connections.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { connectUrl, redeemUrl, sourceOwner } from '../model/connection.ts';
import { isPerUser } from '../model/credential.ts';
import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { ConnectionOwners } from '../sources/upstream/connection-owners.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { createUserConnectionAdministration, type UserConnectionAdministration } from './user-connections.ts';

/** A connection that exists or could be made. */
interface ShownConnection {
  source_id: string;
  source_name: string;
  namespace: string;
  /** For the caller's own calls, for discovery, or, if the connection is shared, for everything. */
  for: 'calls' | 'discovery' | 'everybody';
  connected: boolean;
  connected_at: number | null;
  /** POST begins the connection, DELETE ends it. */
  connect_url: string;
  /** The redirect URI to register when a client is registered by hand. */
  redirect_uri: string;
}

interface ConnectionOptions {
  /** Administrators may use every source, and make the connections used for discovery. */
  administrator?: boolean;
  for?: 'calls' | 'discovery';
}

interface BeginOptions extends ConnectionOptions {
  /** The port on which a program on the caller's machine waits for the code that finishes the connection. */
  loopbackPort?: number | undefined;
}

/** [BFF-6] Each user's own connections to sources. Only administrators see or end those of other users; nobody can use them. */
export interface ConnectionAdministration {
  /** For administrators only. */
  readonly ofUsers: UserConnectionAdministration;
  list(principal: Principal, options?: Pick<ConnectionOptions, 'administrator'>): Promise<ShownConnection[]>;
  /** Returns the address at which the user allows the connection, and the address at which they finish it. */
  begin(principal: Principal, sourceId: string, options?: BeginOptions): Promise<BegunConnection & { redeem_url: string }>;
  /** Keeps the response that the browser came back with; its state says who began. Nothing is connected yet. */
  park(sourceId: string, response: FinishedAuthorization): Promise<ParkedConnection & { source: SourceRecord }>;
  /** Finishes the connection. Only the user who began it can, with the code shown only in the browser that came back. */
  redeem(principal: Principal, sourceId: string, code: string, options?: ConnectionOptions): Promise<ShownConnection>;
  revoke(principal: Principal, sourceId: string, options?: ConnectionOptions): Promise<void>;
}

interface ConnectionAdministrationInput {
  inventory: Inventory;
  supervisor: Supervisor;
  connections: Connections;
  connectionOwners: ConnectionOwners;
  /** The address at which browsers reach this server. */
  publicUrl: string;
}

export function createConnectionAdministration(input: ConnectionAdministrationInput): ConnectionAdministration {
  const { inventory, supervisor, connections, connectionOwners } = input;
  const callbacks = `${input.publicUrl.replace(/\/+$/, '')}/api/connections/callback`;
  /** RFC 9700 §4.4.2.2: a distinct redirect URI for each source prevents mix-up attacks between authorization servers. */
  const redirectUri = (sourceId: string) => `${callbacks}/${sourceId}`;

  function mayUse(principal: Principal, source: SourceRecord, { administrator = false }: ConnectionOptions): boolean {
    return administrator || inventory.accessOf(principal).tools.some((tool) => tool.source_id === source.id);
  }

  /** Unknown sources and sources the caller may not use get the same answer, so that callers cannot tell them apart. */
  function existing(principal: Principal, sourceId: string, options: ConnectionOptions, isOwn = (_id: string) => false): SourceRecord {
    const source = inventory.sources.get(sourceId) ?? [...inventory.sources.values()].find(({ namespace }) => namespace === sourceId);
    if (source === undefined || !(mayUse(principal, source, options) || isOwn(source.id))) {
      throw new CribError('NOT_FOUND', 'There is no such source for you. GET /api/connections lists the sources that need a connection');
    }
    if (!wantsConnection(source))
      throw new CribError(
        'CONFLICT',
        `${source.name} needs no connection${isPerUserSource(source) ? ': it is called with your own token' : ''}`,
      );
    return source;
  }

  function ownerFor(principal: Principal, source: SourceRecord, options: ConnectionOptions): string {
    const isShared = !isPerUserSource(source);
    if (options.for !== 'discovery' && !isShared) return principal.key;
    if (options.administrator !== true) throw new CribError('FORBIDDEN', 'Only administrators can make the connection of a source itself');
    if (!isShared && !discoversByConnection(source)) {
      throw new CribError('CONFLICT', `${source.name} has no discovery_credential of type oauth: add one first`);
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
      // Includes sources that the user connected but may no longer use, so that the connection can be ended.
      const shown = (source: SourceRecord) => wantsConnection(source) && (own.has(source.id) || mayUse(principal, source, options));
      const sources = [...inventory.sources.values()].filter(shown);
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
      const begun = await connections.begin(await connectionOwners.of(source, owner), {
        redirectUri: redirectUri(source.id),
        begunBy: principal.name ?? principal.subject,
        by: changedBy(principal),
        loopbackPort: options.loopbackPort,
      });
      return { ...begun, redeem_url: redeemUrl(source.id, options.for === 'discovery' ? sourceOwner : '') };
    },
    async park(sourceId, response) {
      const parked = await connections.park(sourceId, response);
      const source = inventory.sources.get(sourceId);
      if (source === undefined) throw new CribError('NOT_FOUND', 'The source was removed in the meantime');
      return { ...parked, source };
    },
    async redeem(principal, sourceId, code, options = {}) {
      const source = existing(principal, sourceId, options);
      const owner = ownerFor(principal, source, options);
      await connections.redeem(await connectionOwners.of(source, owner), { code, by: changedBy(principal) });
      await changed(source.id, owner);
      const purpose = owner !== sourceOwner ? 'calls' : isPerUserSource(source) ? 'discovery' : 'everybody';
      return show(source, purpose, (await connections.list(owner)).get(source.id));
    },
    async revoke(principal, sourceId, options = {}) {
      // Users who may no longer use a source can still end their connection to it.
      const connected = await connections.list(principal.key);
      const source = existing(principal, sourceId, options, (id) => connected.has(id));
      const owner = ownerFor(principal, source, options);
      const settings = async () => (await connectionOwners.of(source, owner)).settings;
      const revoked = await connections.revoke({ sourceId: source.id, owner }, settings, changedBy(principal));
      await changed(source.id, owner);
      if (!revoked) throw new CribError('NOT_FOUND', `There is no connection to ${source.name}`);
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
