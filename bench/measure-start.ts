import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './quantile.ts';
import { processUsage } from './process-usage.ts';
import { startToolcrib } from './toolcrib.ts';

export interface StartFigures {
  form: string;
  /** The very first start: no data directory yet, and an empty compile cache. */
  first_ready_ms: number;
  warm_ready_ms: number;
  idle_memory_mb: number | null;
  warm_rounds_ms: number[];
}

const warmStarts = 5;
const idleMs = 5000;

/** How long `toolcrib serve` takes until it answers, and how much memory it uses when idle. */
export async function measureStart({
  form,
  program,
  issuer,
  directory,
}: {
  form: string;
  program: string;
  issuer: string;
  directory: string;
}) {
  const options = {
    program,
    issuer,
    dataDir: join(directory, form),
    env: { NODE_COMPILE_CACHE: join(directory, `${form}-compile-cache`) },
  };
  const first = await startToolcrib(options);
  await first.stop();
  const rounds: number[] = [];
  let idleMemory: number | null = null;
  for (let round = 1; round <= warmStarts; round++) {
    await using server = await startToolcrib(options);
    rounds.push(Math.round(server.readyMs));
    if (round === warmStarts) {
      await sleep(idleMs);
      idleMemory = processUsage(server.pid)?.rssMb ?? null;
    }
  }
  const figures: StartFigures = {
    form,
    first_ready_ms: Math.round(first.readyMs),
    warm_ready_ms: median(rounds),
    idle_memory_mb: idleMemory,
    warm_rounds_ms: rounds,
  };
  console.error(`start from ${form}: ready after ${figures.warm_ready_ms} ms, idle with ${figures.idle_memory_mb} MB`);
  return figures;
}
