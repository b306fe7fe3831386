import { expect, test } from 'vitest';
import { recordLostCalls } from '../../src/execution/lost-calls.ts';
import { createStore } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleCall, sampleChainKeys } from './store-samples.ts';

describeStore('the calls in flight', ({ open }) => {
  const lineOf = (server: string, endsBy: number) => {
    const record = sampleCall({ status: 'unknown', error_code: 'SERVICE_UNAVAILABLE' });
    return { call_id: record.call_id, server, ends_by: endsBy, record };
  };

  test('[SEC-4] are recorded as unknown once when their server comes back, and those of other servers when their time is over', async () => {
    await using database = await open();
    const store = createStore(database, { keys: sampleChainKeys() });
    const [mine, recorded, late, running] = [lineOf('a', 2000), lineOf('a', 2000), lineOf('b', 999), lineOf('b', 2000)];
    await store.inFlight.add([mine, recorded, late, running]);
    await store.inFlight.add([mine]);
    const finished = { ...recorded.record, status: 'completed', error_code: null } as const;
    await store.calls.append([finished]);
    expect(await recordLostCalls({ store, server: 'a', endedBefore: 1000 })).toBe(2);
    expect(await store.calls.get(mine.call_id)).toEqual(mine.record);
    expect(await store.calls.get(recorded.call_id)).toEqual(finished);
    expect(await store.calls.get(late.call_id)).toEqual(late.record);
    expect(await store.calls.get(running.call_id)).toBeUndefined();
    expect(await recordLostCalls({ store, server: 'a', endedBefore: 1000 })).toBe(0);
    expect((await store.calls.list({ statuses: ['running'], limit: 10 })).calls).toEqual([
      { ...running.record, status: 'running', error_code: null },
    ]);
    expect((await store.calls.list({ statuses: ['running'], limit: 10, subject: 'nobody' })).calls).toEqual([]);
    await store.inFlight.remove([running.call_id]);
    expect((await store.calls.list({ statuses: ['running'], limit: 10 })).calls).toEqual([]);
  });
});
