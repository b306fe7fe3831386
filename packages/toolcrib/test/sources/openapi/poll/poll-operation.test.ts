import { describe, expect, test } from 'vitest';
import { EndSwitch } from '../../../../src/model/end-signal.ts';
import type { Steps } from '../../../../src/durable/steps.ts';
import { following, keyParameter, openCaller, openJournal, operationAt, quick, startScripted, type Scripted } from './following.ts';

const accepted: Scripted = { status: 202, headers: { location: '/shop/orders/7' }, body: { id: 7, status: 'received' } };
const done: Scripted = { body: { id: 7, status: 'done', pizza: 'funghi' } };
const baking: Scripted = { body: { status: 'baking' } };
const repeated = (count: number, answer: Scripted) => Array.from({ length: count }, () => answer);

describe('[POLL-1] a long-running operation', () => {
  test('is polled at its Location until it has ended, and reports its progress', async () => {
    const { output, progress, seen } = await following([accepted, baking, baking, done]);
    expect(output?.structured_content).toEqual({ id: 7, status: 'done', pizza: 'funghi' });
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /shop/orders',
      ...Array<string>(3).fill('GET /shop/orders/7'),
    ]);
    expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer the-token']));
    expect(progress).toEqual(['received', 'baking (checked once, at most 60)', 'baking (checked 2 times, at most 60)']);
  });

  test.each([
    ['a template', { status_url_template: '/orders/{id}/state' }, { status: 201, body: { id: 'a/b c' } }, '/shop/orders/a%2Fb%20c/state'],
    ['a nested field', { status_url_template: '/jobs/{data.jobs[1].id}' }, { body: { data: { jobs: [1, { id: 9 }] } } }, '/shop/jobs/9'],
    ['a query', { status_url_template: '/state?of={id}' }, { body: { id: 'a&b' } }, '/shop/state?of=a%26b'],
    ['an argument', { status_url_template: '/of/{shop}/{id}' }, { body: { id: 1 } }, '/shop/of/milano/1'],
    ['a field with the address', { status_url_template: '{links.self}' }, { body: { links: { self: '/there?x=1' } } }, '/there?x=1'],
    ['Operation-Location', {}, { status: 202, headers: { location: '/result', 'operation-location': '{origin}/state' } }, '/state'],
    ['a relative Location', {}, { status: 201, headers: { location: 'orders/3' }, body: {} }, '/shop/orders/3'],
    ['a redirect after the start', { status_url_template: '/x/{id}' }, { status: 303, headers: { location: '/seen' } }, '/seen'],
  ])('is polled where %s says', async (_name, profile, first: Scripted, place) => {
    const { output, asked } = await following([first, done], { profile, args: { shop: 'milano' } });
    expect(asked).toEqual(['/shop/orders', place]);
    expect(output?.structured_content).toMatchObject({ status: 'done' });
  });

  test.each<[string, object, Scripted[], unknown]>([
    [
      'another field and other values',
      { status_field_path: 'job.state', completed_values: [3] },
      [accepted, { body: { job: { state: 3 } } }],
      { job: { state: 3 } },
    ],
    ['capital letters', {}, [accepted, { body: { status: 'DONE' } }], { status: 'DONE' }],
    ['a part of the answer', { result_field_path: 'data.items' }, [accepted, { body: { status: 'done', data: { items: [1] } } }], [1]],
    ['the whole where that part is missing', { result_field_path: 'gone' }, [accepted, { body: { status: 'done' } }], { status: 'done' }],
    ['the first answer, where that is it', {}, [{ body: { status: 'done', now: true } }], { status: 'done', now: true }],
    ['an answer without a state and without a Location', {}, [{ body: { pizza: 1 } }], { pizza: 1 }],
    ['202 until it is there', {}, [{ status: 202, headers: { location: '/r' } }, { status: 202 }, { body: { pizza: 2 } }], { pizza: 2 }],
    [
      'a 303 to the result',
      { status_url_template: '/s/{id}' },
      [accepted, baking, { status: 303, headers: { location: '/r' } }, { body: { pizza: 3 } }],
      { pizza: 3 },
    ],
    [
      'a 307 to where the state is',
      {},
      [accepted, { status: 307, headers: { location: '/r' } }, baking, done],
      { id: 7, status: 'done', pizza: 'funghi' },
    ],
  ])('gives its result by %s', async (_name, profile, script, result) => {
    const { output, seen } = await following(script, { profile: { ...profile } });
    expect(output?.structured_content).toEqual(result);
    expect(seen).toHaveLength(script.length);
  });

  test('is polled if it was accepted, whatever its answer calls itself', async () => {
    const { seen } = await following([{ ...accepted, body: { status: 'done' } }, done]);
    expect(seen).toHaveLength(2);
  });

  test('reports a failure as a result with the words of the service', async () => {
    const { output } = await following([accepted, { body: { status: 'Failed', message: 'The oven is cold' } }]);
    expect(output).toMatchObject({ is_error: true, structured_content: { message: 'The oven is cold' } });
  });

  test('keeps text in a result as text', async () => {
    const { output } = await following([accepted, { body: { status: 'done', note: 'eat' } }], { profile: { result_field_path: 'note' } });
    expect(output).toMatchObject({ content: [{ type: 'text', text: 'eat' }] });
    expect(output?.structured_content).toBeUndefined();
  });

  test('is polled again when the service is in trouble, and awaited when it is not there yet', async () => {
    const missing: Scripted = { status: 404 };
    const busy: Scripted = { status: 429, headers: { 'retry-after': '1' } };
    const { output, progress } = await following([accepted, missing, missing, 'cut', { status: 503 }, busy, done]);
    expect(output?.structured_content).toMatchObject({ status: 'done' });
    expect(progress.slice(1).map((message) => message.replace(/ \(.*/, ''))).toEqual([
      'not there yet',
      'not there yet',
      'not reached',
      'answered with 503',
      'answered with 429',
    ]);
  });

  test('is polled again when a request times out', async () => {
    const { output, progress } = await following([accepted, 'silent', done], { requestTimeoutMs: 200 });
    expect(output?.structured_content).toMatchObject({ status: 'done' });
    expect(progress.at(-1)).toBe('not reached (checked once, at most 60)');
  });

  test.each<[string, object, Scripted[], RegExp]>([
    ['gone after it was there', {}, [accepted, baking, { status: 404 }], /404/],
    ['missing for good', {}, [accepted, ...repeated(4, { status: 404 })], /404/],
    ['refused', {}, [accepted, { status: 403 }], /403/],
    ['refused at the start', {}, [{ status: 400 }], /400/],
    ['accepted without a place to look', {}, [{ status: 202 }], /202 and without a Location/],
    ['without the field its template wants', { status_url_template: '/o/{id}' }, [{ body: {} }], /needs id/],
    ['with a field that climbs', { status_url_template: '/o/{id}/x' }, [{ body: { id: '..' } }], /cannot be part of an address/],
    ['to be followed elsewhere', {}, [{ status: 202, headers: { location: 'https://evil.example/' } }], /another server/],
    ['to be followed as somebody else', {}, [{ status: 202, headers: { location: '//me:pw@127.0.0.1/' } }], /another server/],
    ['sent elsewhere later', {}, [accepted, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }], /another server/],
    ['sent around', {}, [accepted, ...repeated(6, { status: 303, headers: { location: '/r' } })], /redirected more than 5 times/],
    ['never done', { max_attempts: 2 }, [accepted, baking, baking], /timed out after 2 polls; the last state was: baking/],
  ])('fails and says why if it is %s', async (_name, profile, script, message) => {
    const { error, seen } = await following(script, { profile: { ...profile } });
    expect(error?.message).toMatch(message);
    expect(seen).toHaveLength(script.length);
  });
});

describe('[POLL-2] a call that resumes after a crash', () => {
  /** Runs the call until the service has been asked so often and what it answered is lost, and then again. */
  async function crashAfter(requests: number, script: Scripted[], parameters = [keyParameter]) {
    await using service = await startScripted(script);
    await using journal = await openJournal();
    await using caller = await openCaller();
    const operation = operationAt(service.origin, { parameters, poll: quick() });
    const crash = new Error('the server is gone');
    const dying = (steps: Steps): Steps => ({
      sleep: steps.sleep,
      run: (name, options, work) =>
        steps.run(name, options, async () => {
          const result = await work();
          if (service.seen.length === requests) throw crash;
          return result;
        }),
    });
    await expect(journal.run((steps) => caller.call(operation, {}, { context: { steps: dying(steps) } }))).rejects.toBe(crash);
    const result = await journal
      .runAgain((steps) => caller.call(operation, {}, { context: { steps } }))
      .then(
        (output) => ({ output, error: undefined }),
        (error: unknown) => ({ error, output: undefined }),
      );
    return { ...result, seen: service.seen, starts: service.seen.filter(({ method }) => method === 'POST') };
  }

  test('continues where it was, without starting again', async () => {
    const { output, starts, seen } = await crashAfter(3, [accepted, baking, baking, done], []);
    expect(output?.structured_content).toMatchObject({ status: 'done' });
    expect(starts).toHaveLength(1);
    expect(seen).toHaveLength(4);
  });

  test('ends as unknown if its start may have taken effect', async () => {
    const { error, starts } = await crashAfter(1, [accepted, done], []);
    expect(error).toMatchObject({ name: 'UnknownOutcomeError' });
    expect(starts).toHaveLength(1);
  });

  test('starts again with the same key, if the service supports one', async () => {
    const { output, starts } = await crashAfter(1, [accepted, accepted, done]);
    expect(output?.structured_content).toMatchObject({ status: 'done' });
    expect(starts.map(({ headers }) => headers['idempotency-key'])).toEqual(['call-1', 'call-1']);
  });

  test('leaves the caller’s own key unchanged', async () => {
    const { seen } = await following([accepted, done], { operation: { parameters: [keyParameter] }, args: { 'Idempotency-Key': 'mine' } });
    expect(seen[0]?.headers['idempotency-key']).toBe('mine');
  });

  test('keeps no more of the interim answers than their state', async () => {
    await using service = await startScripted([
      { ...accepted, body: { id: 7, status: 'received', crust: 'thin' } },
      baking,
      { status: 400 },
    ]);
    await using journal = await openJournal();
    await using caller = await openCaller();
    const kept: unknown[] = [];
    const watched = (steps: Steps): Steps => ({
      sleep: steps.sleep,
      async run(name, options, work) {
        const result = await steps.run(name, options, work);
        kept.push(result);
        return result;
      },
    });
    const operation = operationAt(service.origin, { poll: quick() });
    const running = journal.run((steps) => caller.call(operation, {}, { context: { steps: watched(steps) } }));
    await expect(running).rejects.toThrow('400');
    expect(kept).toEqual([
      { kind: 'waiting', state: 'received', status: 202, pause_ms: null, url: `${service.origin}/shop/orders/7` },
      { kind: 'waiting', state: 'baking', status: 200, pause_ms: null },
    ]);
  });

  test('ends with its signal', async () => {
    await using service = await startScripted([accepted, baking]);
    await using journal = await openJournal();
    await using caller = await openCaller();
    const signal = new EndSwitch();
    const progress = () => void (service.seen.length === 2 && signal.end(new Error('cancelled')));
    const operation = operationAt(service.origin, { poll: quick() });
    const running = journal.run((steps) => caller.call(operation, {}, { context: { steps, signal, progress } }));
    await expect(running).rejects.toThrow('cancelled');
    expect(service.seen).toHaveLength(2);
  });
});
