import type { McpServer, RegisteredPrompt, RegisteredTool } from '@modelcontextprotocol/server';
import { watchedUri, type Catalogue, type Changeable } from './catalogue.ts';

/** Keeps a server's lists as the catalogue has them and tells its client of changes, for as long as it is connected. */
export function followCatalogue(
  server: McpServer,
  catalogue: Catalogue,
  extras: { tools: RegisteredTool; prompts: RegisteredPrompt },
): void {
  const subscribed = new Set<string>();
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    catalogue.subscribed.push(params.uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    catalogue.subscribed.splice(catalogue.subscribed.indexOf(params.uri), 1);
    return {};
  });
  // They tell the client themselves.
  const onChange = (kind: Changeable) => (catalogue.hasExtra(kind) ? extras[kind].enable() : extras[kind].disable());
  const isModern = () => server.server.getNegotiatedProtocolVersion() === '2026-07-28';
  const onUpdate = () => {
    // In the revision without sessions the SDK knows who listens.
    if (isModern() || subscribed.has(watchedUri)) void server.server.sendResourceUpdated({ uri: watchedUri });
  };
  catalogue.on('change', onChange).on('update', onUpdate);
  server.server.onclose = () => catalogue.off('change', onChange).off('update', onUpdate);
}
