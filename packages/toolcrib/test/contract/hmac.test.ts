import { createHmac, createSecretKey } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hmac } from '../../src/store/audit/hmac.ts';

const expected = (key: Uint8Array, data: string | Uint8Array) => createHmac('sha256', key).update(data).digest('base64url');

test("[SEC-4] a mac is the one that Node's own HMAC makes, whatever the key and the data", () => {
  const data = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array(), fc.string({ minLength: 20_000, maxLength: 30_000 }));
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.array(data, { minLength: 1, maxLength: 3 }), (bytes, list) => {
      const key = createSecretKey(bytes);
      expect(list.map((one) => hmac(key, one))).toEqual(list.map((one) => expected(bytes, one)));
    }),
  );
});
