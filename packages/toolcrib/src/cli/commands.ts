import type { Command } from './command.ts';

export interface CommandEntry {
  name: string;
  summary: string;
  /** Imported only when it runs, so that each command starts quickly. */
  load(): Promise<Command>;
}

/** [CLI-1] In the order the help shows them. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'Starts the server',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'add',
    summary: 'Adds a source of tools, such as an MCP server or an API',
    load: async () => (await import('./add.ts')).add,
  },
  {
    name: 'import',
    summary: 'Adds the servers from the configuration file of another client',
    load: async () => (await import('./import-sources.ts')).importSources,
  },
  {
    name: 'sources',
    summary: 'Lists the sources; shows, starts, stops or removes one',
    load: async () => (await import('./sources.ts')).sources,
  },
  {
    name: 'logs',
    summary: 'Shows the log of a source',
    load: async () => (await import('./logs.ts')).logs,
  },
  {
    name: 'tools',
    summary: 'Lists the tools you may use',
    load: async () => (await import('./tools.ts')).tools,
  },
  {
    name: 'call',
    summary: 'Calls a tool',
    load: async () => (await import('./call.ts')).call,
  },
  {
    name: 'calls',
    summary: 'For administrators: lists who called what, when and how it ended',
    load: async () => (await import('./calls.ts')).calls,
  },
  {
    name: 'connect',
    summary: 'Connects your own account to a source',
    load: async () => (await import('./connect.ts')).connect,
  },
  {
    name: 'connections',
    summary: 'For administrators: lists and ends the connections of users',
    load: async () => (await import('./connections.ts')).connections,
  },
  {
    name: 'connect-client',
    summary: 'Configures an MCP client, such as an editor, for this server',
    load: async () => (await import('./connect-client.ts')).connectClient,
  },
  {
    name: 'plan',
    summary: 'Shows how the server differs from a configuration file',
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    name: 'apply',
    summary: 'Applies a configuration file',
    load: async () => (await import('./apply.ts')).apply,
  },
  {
    name: 'schema',
    summary: 'Prints the JSON Schema of configuration files, for editors',
    load: async () => (await import('./schema.ts')).schema,
  },
  {
    name: 'policy explain',
    summary: 'Explains who may use what, and why',
    load: async () => (await import('./policy-explain.ts')).policyExplain,
  },
  {
    name: 'policy test',
    summary: 'Runs the access tests of a configuration file',
    load: async () => (await import('./policy-test.ts')).policyTest,
  },
  {
    name: 'secrets list',
    summary: 'Lists the secrets, without their values',
    load: async () => (await import('./secrets-list.ts')).secretsList,
  },
  {
    name: 'secrets set',
    summary: 'Creates a secret or replaces its value',
    load: async () => (await import('./secrets-set.ts')).secretsSet,
  },
  {
    name: 'secrets delete',
    summary: 'Deletes a secret',
    load: async () => (await import('./secrets-delete.ts')).secretsDelete,
  },
  {
    name: 'secrets rekey',
    summary: 'Encrypts all secrets and connections with the newest key',
    load: async () => (await import('./secrets-rekey.ts')).secretsRekey,
  },
  {
    name: 'audit verify',
    summary: 'Checks that nobody has changed the record of calls and changes',
    load: async () => (await import('./audit-verify.ts')).auditVerify,
  },
  {
    name: 'audit export',
    summary: 'Prints the record of calls, changes and refused requests',
    load: async () => (await import('./audit-export.ts')).auditExport,
  },
  {
    name: 'backup',
    summary: 'Writes the whole database to one file, also while the server runs',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'Checks a backup and puts it in place of the data folder',
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    name: 'migrate',
    summary: 'Copies the SQLite database of a data folder into PostgreSQL',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    name: 'token',
    summary: 'Prints a token of a development user',
    load: async () => (await import('./token.ts')).token,
  },
  {
    name: 'doctor',
    summary: 'Checks whether Toolcrib can run on this machine',
    load: async () => (await import('./doctor.ts')).doctor,
  },
];
