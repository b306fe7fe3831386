import type { DefinedSource, SourceRecord } from '../../model/source.ts';
import { defineSourceType } from '../source-type.ts';
import { mcpCommandLine } from './command-line.ts';
import { isRemote, mcpDefinitionSchema, type McpDefinition } from './mcp-definition.ts';
import { openMcpKind } from './mcp-kind.ts';
import { mcpRegistrationSchema, type McpRegistration } from './registration/forms.ts';
import { literalMcpSecrets } from './registration/literal-mcp-secrets.ts';
import { readManifest } from './registration/manifest.ts';
import { mcpAsGiven } from './registration/mcp-as-given.ts';
import { mcpFormOf } from './registration/mcp-form-of.ts';
import { mergeUpdate } from './registration/merge-update.ts';
import { normaliseRegistration } from './registration/normalise.ts';
import { showDefinition } from './registration/show-definition.ts';

export const mcp = defineSourceType<McpRegistration, McpDefinition>({
  name: 'mcp',
  definition: mcpDefinitionSchema,
  commandLine: mcpCommandLine,
  boundTo: [],
  registration: {
    form: mcpRegistrationSchema,
    required: ['name'],
    description: 'An MCP server: remote, in a plugin directory, or described by its package',
    empty: mcpDefinitionSchema.parse({}),
    normalise: (form, context) => normaliseRegistration(form, { readManifest, ...context }),
    merge: (form, stored, options) => mergeUpdate(stored, form, options),
    show: showDefinition,
    asGiven: mcpAsGiven,
    formOf: mcpFormOf,
    runNeed: (form, { starts }) => (starts === null ? null : { does: 'starts a program', field: startingField(form) }),
    literalSecrets: literalMcpSecrets,
    resolveFiles: (form) => form,
    referringParts: ({ command }) => [command],
    hasMoved: () => false,
    isElsewhere: isRemote,
  },
  open: openMcpKind,
});

/** The field that says what is started. */
function startingField(form: McpRegistration): string {
  const saying = ['mcp_command', 'mcp_plugin_dir', 'mcp', 'package', 'mcp_container'] as const;
  return saying.find((field) => (form[field] ?? null) !== null) ?? 'mcp_command';
}

export function isMcpSource(source: SourceRecord): source is DefinedSource<McpDefinition> {
  return source.source_type === mcp.name;
}
