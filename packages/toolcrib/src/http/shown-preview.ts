import type { SourcePreview } from '../administration/source-preview.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { showSource } from '../sources/source-registrations.ts';

/** [SRC-8] A preview as the API shows it. */
export function shownPreview({ name, namespace, source, starts, missing, tools, server, import: imported, error }: SourcePreview) {
  const shown = showSource(source);
  return {
    name,
    namespace,
    definition: shown,
    starts: starts === null || !('command' in shown && 'cwd' in shown) ? null : { ...starts, command: shown.command, cwd: shown.cwd },
    missing,
    tools: tools?.map(({ definition: tool }) => previewedTool(namespace, tool)) ?? null,
    server,
    import: imported,
    error: error?.toJSON() ?? null,
  };
}

function previewedTool(namespace: string, { name, title, description, input_schema, output_schema, annotations }: ToolDefinition) {
  return {
    name: `${namespace}:${name}`,
    title: title ?? null,
    description,
    input_schema,
    output_schema: output_schema ?? null,
    annotations: annotations ?? {},
  };
}
