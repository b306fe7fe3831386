/** Asked however often while it is being done, it is done once more afterwards: what was asked for in between is seen by that. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let busy = false;
  let again = false;
  async function run(): Promise<void> {
    busy = true;
    do {
      again = false;
      await work();
    } while (again);
    busy = false;
  }
  return () => {
    again = true;
    if (!busy) void run();
  };
}
