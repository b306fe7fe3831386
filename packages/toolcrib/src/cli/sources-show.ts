import { describeSource, toolTable } from './describe-source.ts';
import type { Administrator, ShownSource } from './source-client.ts';
import { sourceTools } from './source-tools.ts';
import { print, printJson } from './terminal.ts';

/** One source and its tools; --json prints the source as the API has it. */
export async function showSource(administrator: Administrator, source: ShownSource, { json }: { json: boolean }): Promise<number> {
  if (json) {
    printJson(source);
    return 0;
  }
  const tools = await sourceTools(administrator, source.id);
  print([describeSource(source), ...(tools.length === 0 ? [] : ['', 'Tools', toolTable(tools, 2)])].join('\n'));
  return 0;
}
