import { randomBytes } from 'node:crypto';

/** Random bytes are fetched in bulk: asking for ten at a time would cost more than the rest of the id. */
const pool = { bytes: Buffer.alloc(0), offset: 0 };
let lastMs = 0;
let counter = 0;

/** RFC 9562 §5.7, with a counter in `rand_a` (§6.2) so that ids made in one process always sort in the order they were made. */
export function uuidV7(now: number = Date.now()): string {
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMs++;
    counter = 0;
  }
  if (pool.offset + 8 > pool.bytes.length) {
    pool.bytes = randomBytes(4096);
    pool.offset = 0;
  }
  const random = pool.bytes.toString('hex', pool.offset, pool.offset + 8);
  pool.offset += 8;
  const time = lastMs.toString(16).padStart(12, '0');
  const sequence = counter.toString(16).padStart(3, '0');
  const variant = (8 + (Number.parseInt(random[0] ?? '0', 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${variant}${random.slice(1, 4)}-${random.slice(4)}`;
}
