/** Every tool of the corpus in one inventory, which the requests search. */
import { basename } from 'node:path';
import { demoTools } from '../../packages/toolcrib/src/demo/pizzeria.ts';
import { definitionHash } from '../../packages/toolcrib/src/inventory/definition-hash.ts';
import { builtinSourceId } from '../../packages/toolcrib/src/inventory/register-builtin.ts';
import { createSnapshot } from '../../packages/toolcrib/src/inventory/snapshot.ts';
import { toolFromRecord } from '../../packages/toolcrib/src/inventory/tool-from-record.ts';
import { toolId } from '../../packages/toolcrib/src/inventory/tool-id.ts';
import type { SourceRecord } from '../../packages/toolcrib/src/model/source.ts';
import type { DiscoveredTool, Tool } from '../../packages/toolcrib/src/model/tool.ts';
import { builtinTools } from '../../packages/toolcrib/src/sources/builtin/builtin-tools.ts';
import { corpus, corpusPath } from '../../packages/toolcrib/test/fixtures/openapi/corpus.ts';
import { importedTools } from '../../packages/toolcrib/test/fixtures/openapi/imported-tools.ts';

/** Namespaces as an operator would choose them; other documents are named after their file. */
const namespaces: Record<string, string> = {
  'github-api-3.0.json': 'github',
  'box-3.0.json': 'box',
  'slack-web-2.0.json': 'slack',
  'msgraph-calendar-3.0.yml': 'outlook',
  'docker-engine-2.0.yaml': 'docker',
  'figma-3.1.yaml': 'figma',
  'nws-weather-3.0.yaml': 'weather',
  'swagger-petstore-3.0.4.yaml': 'petstore',
  'oai-petstore-separate-2.0/spec/swagger.json': 'pets',
  'oai-uber-2.0.json': 'uber',
  'oai-link-example-3.0.yaml': 'links',
  'oai-tictactoe-3.1.yaml': 'tictactoe',
  'oai-tags-3.2.yaml': 'tags',
  'bnpl-openapi.yaml': 'bnpl',
  'pet-coupons.openapi.yaml': 'coupons',
  'httpbin-2.0.json': 'httpbin',
};

/** In the order of a real inventory. `folder` holds the large documents. */
export async function corpusTools(folder: string): Promise<readonly Tool[]> {
  const withTools = corpus.filter(({ operations }) => operations > 0);
  const imported = await Promise.all(
    withTools.map(({ file }) => importedTools(corpusPath(file, folder), namespaces[file] ?? basename(file).replaceAll(/\W+/g, '-'))),
  );
  const ofDocuments = imported.flatMap(({ tools }) => tools);
  const builtin = builtinTools.map(({ definition, tags }) => ({ definition, tags: [...tags], execution_mode: 'builtin' as const }));
  const demo = demoTools.map(({ name, title, description, inputSchema }) => ({
    definition: { name, title, description, input_schema: inputSchema as DiscoveredTool['definition']['input_schema'] },
    tags: [],
    execution_mode: 'mcp_call' as const,
  }));
  const own = [...builtin.map((tool) => toolOf(tool, 'builtin')), ...demo.map((tool) => toolOf(tool, 'demo'))];
  return createSnapshot([...ofDocuments, ...own]).tools;
}

function toolOf(discovered: DiscoveredTool, namespace: string): Tool {
  const source: SourceRecord = {
    id: namespace === 'builtin' ? builtinSourceId : namespace,
    name: namespace,
    namespace,
    source_type: 'builtin',
    enabled: true,
    definition: null,
    managed_by: null,
    created_at: 0,
    updated_at: 0,
  };
  const hash = definitionHash(discovered.definition);
  const record = {
    tool_id: toolId(source.id, discovered.definition.name),
    source_id: source.id,
    discovered,
    definition_hash: hash,
    state: 'active' as const,
    approved_hash: hash,
    approved: null,
    overrides: {},
    created_at: 0,
    updated_at: 0,
  };
  return toolFromRecord(record, source);
}
