import { endWithToken } from '../http/end-with-token.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { DoorCaller } from './door-caller.ts';
import { serverInfo, type DoorMethods } from './door-methods.ts';
import type { DoorList } from './follow-lists.ts';
import type { LegacyDoorInput } from './legacy-door.ts';
import type { ModernAnswer } from './modern-answer.ts';
import { metaKeys } from './modern-head.ts';
import { DoorError, notificationText, resultText, rpcCodes, type RpcId } from './rpc.ts';
import type { Subscriptions } from './subscriptions.ts';

interface Listening {
  caller: DoorCaller;
  id: RpcId;
  params: JsonObject;
  answer: ModernAnswer;
}

const lists = { toolsListChanged: 'tools', resourcesListChanged: 'resources', promptsListChanged: 'prompts' } as const;
const mostUris = 100;

/** [DOOR-5] A stream of the changes that the client asked for: the stateless revision's way to subscribe. */
export async function listen(
  { streams, closing }: Pick<LegacyDoorInput, 'streams' | 'closing'>,
  methods: DoorMethods,
  { caller, id, params, answer }: Listening,
): Promise<void> {
  const { notifications } = params;
  if (!isObject(notifications)) throw new DoorError(rpcCodes.invalidParams, 'params.notifications must say what to listen for');
  const asked = urisOf(notifications['resourceSubscriptions']);
  const about = { [metaKeys.subscription]: id };
  const closers: (() => void)[] = [streams.take(caller.principal.key)];
  let isOver = false;
  const end = () => {
    isOver = true;
    for (const close of closers.splice(0)) close();
  };
  answer.onGone(end);
  const subscriptions = methods.subscriptions(
    () => caller,
    (uri) => answer.tell(notificationText('notifications/resources/updated', { uri, _meta: about })),
  );
  closers.push(() => subscriptions.end());
  const wanted = Object.entries(lists).filter(([name]) => notifications[name] === true);
  const uris = await subscribe(subscriptions, asked);
  if (isOver) return;
  const honored: JsonObject = {
    ...Object.fromEntries(wanted.map(([name]) => [name, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  };
  answer.tell(notificationText('notifications/subscriptions/acknowledged', { notifications: honored, _meta: about }));
  const over = () => {
    end();
    answer.answer(resultText(id, JSON.stringify({ resultType: 'complete', _meta: { ...about, [metaKeys.server]: serverInfo } })));
  };
  if (Object.keys(honored).length === 0) return over();
  const told = new Set<DoorList>(wanted.map(([, list]) => list));
  const changed = (list: DoorList) => {
    if (told.has(list)) answer.tell(notificationText(`notifications/${list}/list_changed`, { _meta: about }));
  };
  if (told.size > 0) closers.push(methods.follow(() => caller, changed));
  endWithToken(
    { closed: false, send: () => undefined, onClose: (listener) => closers.push(listener), close: over },
    caller.principal,
    closing,
  );
}

function urisOf(asked: unknown): string[] {
  if (asked === undefined) return [];
  const uris = Array.isArray(asked) ? [...new Set(asked)] : undefined;
  if (uris === undefined || uris.length > mostUris || !uris.every((uri) => typeof uri === 'string'))
    throw new DoorError(rpcCodes.invalidParams, `resourceSubscriptions must be a list of at most ${mostUris} addresses of resources`);
  return uris;
}

/** Those of which the caller can be told: one that is not there, or not theirs, is left out. */
async function subscribe(subscriptions: Subscriptions, uris: readonly string[]): Promise<string[]> {
  const added = await Promise.all(
    uris.map((uri) =>
      subscriptions.add(uri).then(
        () => [uri],
        () => [],
      ),
    ),
  );
  return added.flat();
}
