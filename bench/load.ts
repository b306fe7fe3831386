/** The load program: a separate process, so that making requests takes no time from the server that answers them. */
import { connect, type Socket } from 'node:net';
import { quantile } from './quantile.ts';
import { machineCpuSeconds, processUsage } from './process-usage.ts';

export interface PreparedRequest {
  /** The whole request as it goes over the wire. */
  bytes: string;
  /** The status that the answer must have, and the text that its body must contain. */
  status: number;
  expect: string;
}

/** A phase lasts until at least this many calls are answered and at least this much time has passed. */
export interface Bound {
  calls: number;
  seconds: number;
}

export interface LoadJob {
  port: number;
  /** The server's process, whose use of processor and memory is read before and after. */
  pid: number;
  /** Processes that work for the server, such as the one behind it: their usage is not noise. */
  companions?: readonly number[];
  connections: number;
  /** Sent one after the other, over and over, by whichever connection is free. */
  requests: PreparedRequest[];
  warmUp: Bound;
  measured: Bound;
}

export interface LoadReport {
  calls: number;
  seconds: number;
  /** Including the warm-up. */
  allCalls: number;
  callsPerSecond: number;
  p50Us: number;
  p90Us: number;
  p99Us: number;
  /** Of the server's process; null if the system does not tell. */
  serverCpuSeconds: number | null;
  serverRssMb: number | null;
  /** Of the processes that work for it. */
  companionCpuSeconds: number | null;
  /** Cores that everything else on the machine used meanwhile: the noise in the figures. */
  otherCpuShare: number | null;
  /** How much of one core this program used itself: near 1 it would limit the figures. */
  loadCpuShare: number;
}

interface Prepared extends Omit<PreparedRequest, 'bytes'> {
  bytes: Buffer;
}

type Answered = (now: number, tookMs: number) => void;

/** One keep-alive connection with at most one request on its way. */
class Connection {
  readonly socket: Socket;
  #request: Prepared | undefined;
  #answered: Answered | undefined;
  #received = '';
  #length = 0;
  #sentAt = 0;

  constructor(port: number, fail: (error: Error) => void) {
    const read = (count: number, buffer: Uint8Array): boolean => {
      this.#received += (buffer as Buffer).toString('latin1', 0, count);
      try {
        this.#advance();
      } catch (error) {
        fail(error as Error);
      }
      return true;
    };
    // One buffer for all reads, so that only the text of an answer is allocated.
    const onread = { buffer: Buffer.allocUnsafe(65_536), callback: read };
    this.socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
    this.socket.on('error', fail);
    this.socket.on('close', () => fail(new Error('The server closed a connection')));
  }

  send(request: Prepared, answered: Answered): void {
    this.#request = request;
    this.#answered = answered;
    this.#received = '';
    this.#length = 0;
    this.#sentAt = performance.now();
    this.socket.write(request.bytes);
  }

  #advance(): void {
    const text = this.#received;
    if (this.#length === 0) {
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const fields = text.slice(0, head);
      const length = /\r\ncontent-length: (\d+)/i.exec(fields)?.[1] ?? '0';
      this.#length = /\r\ntransfer-encoding: chunked/i.test(fields) ? Infinity : head + 4 + Number(length);
    }
    // RFC 9112 §7.1: a body in chunks ends with an empty one.
    if (this.#length === Infinity && text.endsWith('\r\n0\r\n\r\n')) this.#length = text.length;
    if (text.length < this.#length) return;
    const now = performance.now();
    this.#check(text);
    this.#answered?.(now, now - this.#sentAt);
  }

  #check(text: string): void {
    const request = this.#request;
    const asExpected =
      request !== undefined &&
      text.length === this.#length &&
      text.startsWith(`HTTP/1.1 ${request.status} `) &&
      text.includes(request.expect, text.indexOf('\r\n\r\n'));
    if (!asExpected) throw new Error(`Expected ${request?.status} with ${request?.expect}, got:\n${text.slice(0, 1000)}`);
  }
}

/** Every connection sends its next request when its last one is answered. Anything but the expected answer ends the run. */
async function runLoad(job: LoadJob): Promise<LoadReport> {
  const requests = job.requests.map(({ bytes, ...rest }) => ({ ...rest, bytes: Buffer.from(bytes, 'latin1') }));
  const broken = Promise.withResolvers<never>();
  const connections = Array.from({ length: job.connections }, () => new Connection(job.port, broken.reject));
  let cursor = 0;

  async function phase(bound: Bound): Promise<{ seconds: number; tookMs: number[] }> {
    const tookMs: number[] = [];
    const began = performance.now();
    const end = began + bound.seconds * 1000;
    let active = connections.length;
    let finished = began;
    await new Promise<void>((resolve) => {
      for (const connection of connections) {
        const next = () => {
          const request = requests[cursor++ % requests.length];
          if (request !== undefined) connection.send(request, answered);
        };
        const answered: Answered = (now, took) => {
          tookMs.push(took);
          if (now < end || tookMs.length < bound.calls) {
            next();
          } else if (--active === 0) {
            finished = now;
            resolve();
          }
        };
        next();
      }
    });
    return { seconds: (finished - began) / 1000, tookMs };
  }

  async function measure(): Promise<LoadReport> {
    const warm = await phase(job.warmUp);
    const before = processUsage(job.pid);
    const companionsBefore = cpuSecondsOf(job.companions);
    const ownBefore = process.cpuUsage();
    const machineBefore = machineCpuSeconds();
    const { seconds, tookMs } = await phase(job.measured);
    const own = process.cpuUsage(ownBefore);
    const after = processUsage(job.pid);
    const companionSeconds = cpuSecondsOf(job.companions) - companionsBefore;
    const machine = (machineCpuSeconds() ?? Number.NaN) - (machineBefore ?? Number.NaN);
    const ownSeconds = (own.user + own.system) / 1e6;
    const serverSeconds = before && after ? after.cpuSeconds - before.cpuSeconds : null;
    const sorted = Float64Array.from(tookMs).sort();
    const us = (part: number) => Math.round(quantile(sorted, part) * 10_000) / 10;
    return {
      calls: tookMs.length,
      seconds,
      allCalls: tookMs.length + warm.tookMs.length,
      callsPerSecond: Math.round(tookMs.length / seconds),
      p50Us: us(0.5),
      p90Us: us(0.9),
      p99Us: us(0.99),
      serverCpuSeconds: serverSeconds,
      serverRssMb: after?.rssMb ?? null,
      companionCpuSeconds: serverSeconds === null ? null : companionSeconds,
      otherCpuShare: serverSeconds === null ? null : Math.max(0, machine - ownSeconds - serverSeconds - companionSeconds) / seconds,
      loadCpuShare: ownSeconds / seconds,
    };
  }

  try {
    return await Promise.race([measure(), broken.promise]);
  } finally {
    broken.promise.catch(() => undefined);
    for (const { socket } of connections) socket.removeAllListeners('close').destroy();
  }
}

function cpuSecondsOf(pids: readonly number[] = []): number {
  return pids.reduce((sum, pid) => sum + (processUsage(pid)?.cpuSeconds ?? 0), 0);
}

process.on('message', (job: LoadJob) => {
  runLoad(job).then(
    (report) => process.send?.({ report }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
// The parent process has ended.
process.on('disconnect', () => process.exit());
