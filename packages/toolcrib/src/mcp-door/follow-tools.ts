import type { Inventory } from '../inventory/inventory.ts';

/** Changes that come together are told once. */
const collectMs = 100;

/** [DOOR-5] Tells when what a caller may use has changed. The returned function ends that. */
export function followTools(inventory: Pick<Inventory, 'onChange'>, listOf: () => string, changed: () => void): () => void {
  let known = listOf();
  let timer: NodeJS.Timeout | undefined;
  const stop = inventory.onChange(() => {
    timer ??= setTimeout(() => {
      timer = undefined;
      const list = listOf();
      if (list === known) return;
      known = list;
      changed();
    }, collectMs).unref();
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
