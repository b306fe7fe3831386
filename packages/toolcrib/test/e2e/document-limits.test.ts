import { request } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mostDocumentBytes } from '../../src/sources/registration/document-form.ts';
import { documentOf } from '../fixtures/document-service.ts';
import { adminClaims, startServerWithIssuer, temporaryDirectory, userClaims } from '../running-server.ts';

let setting: Awaited<ReturnType<typeof startServerWithIssuer>>;
beforeAll(async () => {
  setting = await startServerWithIssuer();
});
afterAll(() => setting[Symbol.asyncDispose]());

const cautiousAdmin = { sub: 'admin-2', realm_access: { roles: ['toolcrib-user', 'toolcrib-admin'] } };
const formOf = (name: string, openapi: object) => ({ name, source_type: 'openapi', openapi });
/** A document whose description makes it so long. */
function textOf(bytes: number): string {
  const document = (description: string) =>
    JSON.stringify(documentOf({}, { info: { title: 'Long', version: '1', description }, servers: [{ url: 'http://127.0.0.1:9' }] }));
  return document('x'.repeat(bytes - document('').length));
}

test('[SRC-5] a pasted document may have 32 MiB, and not a byte more', async () => {
  const admin = await setting.signedIn(adminClaims);
  const fits = await admin.post('/api/sources', formOf('fits', { text: textOf(mostDocumentBytes) }));
  expect(fits.status).toBe(201);
  const { status, json } = await admin.post('/api/sources', formOf('too-long', { text: textOf(mostDocumentBytes + 1) }));
  expect({ status, field: json.field }).toEqual({ status: 400, field: 'openapi.text' });
  const tooMuch = await admin.post('/api/sources', formOf('far-too-long', { text: 'x'.repeat(2 * mostDocumentBytes + 2_000_000) }));
  expect(tooMuch.json).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  const elsewhere = await admin.post('/api/groups', { id: 'g', name: 'x'.repeat(5_000_000) });
  expect(elsewhere.json).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
});

test('[SEC-3] a long body is not read for a caller who may not send it', async () => {
  const user = await setting.signedIn(userClaims);
  for (const authorization of [undefined, `Bearer ${user.token}`]) {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const sent = request(`${user.url}/api/sources`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': 60_000_000,
        ...(authorization === undefined ? {} : { authorization }),
      },
    });
    sent.on('response', (response) => resolve(response.statusCode)).on('error', reject);
    // Its body never comes: whoever waits for it does not answer.
    sent.write('{');
    expect(await promise).toBe(authorization === undefined ? 401 : 403);
    sent.on('error', () => undefined).destroy();
  }
});

test('[SEC-2] reading a file of the machine needs the permission to run commands', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'openapi.json');
  await writeFile(file, JSON.stringify(documentOf({}, { servers: [{ url: 'http://127.0.0.1:9' }] })));
  const cautious = await setting.signedIn(cautiousAdmin);
  for (const path of ['/api/sources', '/api/sources/preview?discover=true']) {
    const { status, json } = await cautious.post(path, formOf('from-file', { file }));
    expect({ status, field: json.field }).toEqual({ status: 403, field: 'openapi.file' });
    expect(json.message).toContain("reads a file on the server's machine");
  }
  const admin = await setting.signedIn(adminClaims);
  expect((await admin.post('/api/sources?wait=20000', formOf('from-file', { file }))).json).toMatchObject({
    status: { state: 'running', tools: 0 },
  });
  const nowhere = { file: join(folder.path, 'nowhere.json') };
  expect((await admin.post('/api/sources?wait=20000', formOf('gone', nowhere))).json.status).toMatchObject({ state: 'error' });
  expect((await admin.post('/api/sources?wait=20000', formOf('folder', { file: folder.path }))).json.status).toMatchObject({
    state: 'error',
    message: expect.stringContaining('is not a file'),
  });
});
