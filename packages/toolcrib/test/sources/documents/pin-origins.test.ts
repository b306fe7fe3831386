import { expect, test } from 'vitest';
import type { HttpOperation } from '../../../src/model/http-operation.ts';
import type { DiscoveredTool } from '../../../src/model/tool.ts';
import { allowedBeginnings } from '../../../src/sources/documents/allowed-beginnings.ts';
import { pinOrigins } from '../../../src/sources/documents/pin-origins.ts';

function toolAt(server: string, name = server): DiscoveredTool {
  const operation = { operation_id: name, method: 'GET', path: `/${name}`, server } as HttpOperation;
  const definition = { name, description: '', input_schema: { type: 'object' } };
  return { definition, tags: [], method: 'GET', path: `/${name}`, execution_mode: 'sync_http', operation };
}
const [a, b] = [toolAt('https://a.example/v1', 'a'), toolAt('https://b.example', 'b')];

test('[SEC-1] the first import decides the origin of the service', () => {
  expect(pinOrigins([a, b], null)).toEqual({ tools: [a, b], origins: ['https://a.example', 'https://b.example'], skipped: [] });
  expect(pinOrigins([], null)).toEqual({ tools: [], origins: null, skipped: [] });
});

test('[SEC-1] later imports cannot add an origin, however similar it looks', () => {
  const known = ['https://a.example'];
  for (const server of [
    'https://b.example',
    'http://a.example',
    'https://a.example:8443',
    'https://a.example.evil.net',
    'https://a.example@evil.net',
  ]) {
    const { tools, origins, skipped } = pinOrigins([a, toolAt(server, 'x')], known);
    expect([tools, origins, skipped.map(({ operation }) => operation)]).toEqual([[a], known, ['GET /x']]);
  }
  const moved = toolAt('https://a.example/v2/elsewhere', 'moved');
  expect(pinOrigins([moved], known).tools).toEqual([moved]);
});

test('workflows have no origin, and get none', () => {
  const flow: DiscoveredTool = { definition: { name: 'flow', description: '', input_schema: {} }, tags: [], execution_mode: 'workflow' };
  expect(pinOrigins([flow], null)).toEqual({ tools: [flow], origins: null, skipped: [] });
});

const at = (text: string) => new URL(text);
const beginnings: [listed: string[], base: URL | null, expected: string[]][] = [
  [['https://s.example'], null, ['https://s.example/']],
  [['https://s.example/v1/../v2/'], null, ['https://s.example/v2/']],
  [['./schemas/', '/shared'], at('https://a.example/api/openapi.json'), ['https://a.example/api/schemas/', 'https://a.example/shared']],
  [['schemas/'], at('file:///srv/api/openapi.json'), ['file:///srv/api/schemas/']],
  [['schemas/'], null, []],
  [['file:///etc/', 'ftp://x/', 'javascript:1'], at('https://a.example/openapi.json'), []],
];
test.each(beginnings)('[SEC-1] only %j may be referred to by a document at %s', (listed, base, expected) => {
  expect(allowedBeginnings(listed, base)).toEqual(expected);
});
