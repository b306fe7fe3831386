export type OffersListener = (sourceId: string, what: 'resources' | 'prompts') => void;

/** [DOOR-5] Whoever wants to hear that a source lists other resources or prompts. */
export function createOffersChanges() {
  const listeners = new Set<OffersListener>();
  return {
    tell(sourceId: string, what: 'resources' | 'prompts'): void {
      for (const listener of listeners) listener(sourceId, what);
    },
    onOffersChanged(listener: OffersListener): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
