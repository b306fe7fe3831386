import type { DoorParts } from './door-parts.ts';
import type { DoorTools } from './door-tools.ts';
import { sourcesOf, type OffersList } from './source-offers.ts';

/** Changes that come together are told once. */
const collectMs = 100;

export type DoorList = 'tools' | OffersList;

interface FollowInput {
  parts: Pick<DoorParts, 'inventory' | 'supervisor'>;
  /** What the caller may use at the moment, and their list as text. */
  toolsOf(): DoorTools;
  pageOf(): string;
  changed(list: DoorList): void;
}

/** [DOOR-5] Tells when a list of this caller has changed, or may have. The returned function ends that. */
export function followLists({ parts, toolsOf, pageOf, changed }: FollowInput): () => void {
  const sourceIds = () => new Set(sourcesOf(toolsOf().tools).map(({ source_id }) => source_id));
  let page = pageOf();
  let sources = sourceIds();
  const pending = new Set<DoorList>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    timer = undefined;
    const now = pageOf();
    if (now !== page) pending.add('tools');
    page = now;
    const left = sourceIds();
    // Prompts and resources come and go with the sources of the tools.
    if (left.size !== sources.size || [...left].some((id) => !sources.has(id))) pending.add('resources').add('prompts');
    sources = left;
    const lists = [...pending];
    pending.clear();
    for (const list of lists) changed(list);
  }

  const lookSoon = () => {
    timer ??= setTimeout(look, collectMs).unref();
  };
  const stops = [
    parts.inventory.onChange(lookSoon),
    parts.supervisor.onOffersChanged((sourceId, what) => {
      if (!sources.has(sourceId)) return;
      pending.add(what);
      lookSoon();
    }),
  ];
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}
