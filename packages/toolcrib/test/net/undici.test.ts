import * as whole from 'undici';
import { expect, test } from 'vitest';
import { buildConnector, Client } from '../../src/net/undici.ts';

test('the parts of undici that are loaded alone are the ones that its main file exports', () => {
  expect(Client).toBe(whole.Client);
  expect(buildConnector).toBe(whole.buildConnector);
});
