/** How many characters of tools are sent at once: parsing more would block the gateway for too long. */
const charactersAtOnce = 256 * 1024;

/** Sends tools, given as JSON, from the process that imports them to the gateway, as messages `{"kind":"tools","tools":[…]}`. */
export function createToolBatches(send: (message: string) => void) {
  let batch: string[] = [];
  let size = 0;
  function flush(): void {
    if (batch.length > 0) send(`{"kind":"tools","tools":[${batch.join(',')}]}`);
    batch = [];
    size = 0;
  }
  return {
    give(this: void, tool: string): void {
      batch.push(tool);
      size += tool.length;
      if (size > charactersAtOnce) flush();
    },
    flush,
  };
}
