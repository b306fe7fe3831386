import { ResourceTemplate, type McpServer } from '@modelcontextprotocol/server';
import { watchedUri } from './catalogue.ts';
import { png } from './samples.ts';

/** Registers the resources and the template. */
export function registerResources(server: McpServer): void {
  const plain = { mimeType: 'text/plain' };
  // The longest of all hints, so that a client which passes hints on can be told from one that makes them up.
  const cacheHint = { ttlMs: 60_000, cacheScope: 'public' as const };
  const staticText = { ...plain, description: 'A text', cacheHint };
  server.registerResource('static-text', 'test://static-text', staticText, ({ href: uri }) => ({
    contents: [{ uri, ...plain, text: 'This is the content of the static text resource.' }],
  }));
  const picture = { mimeType: 'image/png', description: 'An image' };
  server.registerResource('static-binary', 'test://static-binary', picture, ({ href: uri }) => ({
    contents: [{ uri, mimeType: picture.mimeType, blob: png }],
  }));
  const watched = { ...plain, description: 'A text that can be subscribed to' };
  server.registerResource('watched-resource', watchedUri, watched, ({ href: uri }) => ({
    contents: [{ uri, ...plain, text: 'Watched' }],
  }));
  const json = { mimeType: 'application/json' };
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined, complete: { id: () => ['123', '456'] } });
  server.registerResource('template', template, { ...json, description: 'Data by number' }, ({ href: uri }, { id }) => ({
    contents: [{ uri, ...json, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) }],
  }));
}
