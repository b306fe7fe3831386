import type { SourceRecord } from '../model/source.ts';
import type { Tool, ToolRecord } from '../model/tool.ts';
import { InventoryTool } from './inventory-tool.ts';
import { sourceFacts } from './source-facts.ts';

/** The tool of a record that somebody holds as a whole. */
export function toolFromRecord(record: ToolRecord, source: SourceRecord): Tool {
  const { discovered } = record;
  return new InventoryTool({
    columns: { ...record, name: discovered.definition.name },
    source: sourceFacts(source),
    definition: { length: 0, read: () => discovered },
  });
}
