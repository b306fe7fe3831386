import { z } from 'zod';
import type { Crib } from '../../crib.ts';
import { describeTool } from '../../inventory/describe-tool.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Principal } from '../../model/principal.ts';
import type { Access } from '../../policy/access.ts';
import { endWithToken } from '../end-with-token.ts';
import { openEventStream, type EventStream } from '../event-stream.ts';
import type { Metrics } from '../metrics.ts';
import { defineRoute, type Route } from '../route.ts';

const heartbeatMs = 30_000;
/** More than the agents of one person need. Each stream costs a connection and a timer until its token expires. */
const maxStreamsPerPrincipal = 50;
/** Lists that can be compared with when a client comes back; older ones are sent whole. */
const maxRememberedLists = 256;

interface ListDifference {
  added: string[];
  changed: string[];
  removed: string[];
}

interface EventFeedInput extends Pick<Crib, 'inventory' | 'statusOf'> {
  closing: AbortSignal;
  metrics: Pick<Metrics, 'streamOpened' | 'streamClosed'>;
}

/** [BFF-4] The caller's event stream. Streams are ended when `closing` aborts, so that a server can stop. */
export function eventFeedRoutes({ inventory, statusOf, closing, metrics }: EventFeedInput): Route[] {
  const remembered = new Map<string, ReadonlyMap<string, string>>();
  const openStreams = new Map<string, number>();

  function remember(access: Access): ReadonlyMap<string, string> {
    let list = remembered.get(access.fingerprint);
    if (list === undefined) {
      list = new Map(access.tools.map((tool) => [tool.name, tool.fingerprint]));
      const [oldest] = remembered.keys();
      if (remembered.size >= maxRememberedLists && oldest !== undefined) remembered.delete(oldest);
      remembered.set(access.fingerprint, list);
    }
    return list;
  }

  function sendList(stream: EventStream, access: Access, before: ReadonlyMap<string, string> | undefined): void {
    const after = remember(access);
    const difference = before && compare(before, after);
    const sent = new Set(difference && [...difference.added, ...difference.changed]);
    const tools = (difference ? access.tools.filter(({ name }) => sent.has(name)) : access.tools).map(describeTool);
    stream.send('tool_list', { total: access.tools.length, difference: difference ?? null, tools }, access.fingerprint);
  }

  function follow(principal: Principal, stream: EventStream, lastEventId: string | undefined): void {
    let access = inventory.accessOf(principal);
    stream.send('connected', { subject: principal.subject, heartbeat_ms: heartbeatMs, expires_at: principal.expiresAt });
    if (lastEventId !== access.fingerprint) sendList(stream, access, lastEventId === undefined ? undefined : remembered.get(lastEventId));
    sendSources(stream, access);

    const stopListening = inventory.onChange(() => {
      const changed = inventory.accessOf(principal);
      if (changed.fingerprint === access.fingerprint) return;
      const before = remember(access);
      access = changed;
      sendList(stream, access, before);
      sendSources(stream, access);
    });
    const heartbeat = setInterval(() => stream.send('heartbeat', { at: Date.now() }), heartbeatMs);
    openStreams.set(principal.key, (openStreams.get(principal.key) ?? 0) + 1);
    metrics.streamOpened();
    stream.onClose(() => {
      metrics.streamClosed();
      const left = (openStreams.get(principal.key) ?? 1) - 1;
      if (left === 0) openStreams.delete(principal.key);
      else openStreams.set(principal.key, left);
      stopListening();
      clearInterval(heartbeat);
    });
    endWithToken(stream, principal, closing);
  }

  /** The state of every source that gives this caller tools. */
  function sendSources(stream: EventStream, access: Access): void {
    for (const id of new Set(access.tools.map((tool) => tool.source_id))) {
      const source = inventory.sources.get(id);
      if (source !== undefined) stream.send('source_status', { source_id: id, source_name: source.name, status: statusOf(source) });
    }
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/api/bff/sse',
      operationId: 'followTools',
      summary: "The caller's event stream",
      description:
        'Events: `connected`; `tool_list` on connecting and whenever the list of this caller changes, then with the difference; `source_status`; `heartbeat` every 30 seconds. `Last-Event-ID` resumes: what has not changed is not sent again. The stream ends when the token does.',
      tag: 'agents',
      access: 'caller',
      headers: z.object({ 'Last-Event-ID': z.string().max(200).optional() }),
      responses: { 200: { description: 'Server-sent events', schema: z.string(), contentType: 'text/event-stream' } },
      errors: ['RATE_LIMITED'],
      handle({ principal, request, reply }) {
        // Nothing may follow the headers, so there is no stream to keep open.
        if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send();
        if ((openStreams.get(principal.key) ?? 0) >= maxStreamsPerPrincipal) {
          throw new CribError('RATE_LIMITED', `You have ${maxStreamsPerPrincipal} streams open: close one first`, { retryAfterMs: 5000 });
        }
        const last = request.headers['last-event-id'];
        const stream = openEventStream(reply);
        follow(principal, stream, typeof last === 'string' ? last : undefined);
        return reply;
      },
    }),
  ];
}

function compare(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ListDifference {
  const added = [...after.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const changed = [...after].filter(([name, fingerprint]) => before.has(name) && before.get(name) !== fingerprint).map(([name]) => name);
  return { added, changed, removed };
}
