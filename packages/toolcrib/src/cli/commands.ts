import type { Command } from './command.ts';

export interface CommandEntry {
  name: string;
  summary: string;
  /** Imported when it is used: no command pays for what another needs. */
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
    name: 'policy explain',
    summary: 'Says who may use what, and why',
    load: async () => (await import('./policy-explain.ts')).policyExplain,
  },
  {
    name: 'token',
    summary: 'Prints a token of a development user',
    load: async () => (await import('./token.ts')).token,
  },
  {
    name: 'doctor',
    summary: 'Says what is there and what is missing on this machine',
    load: async () => (await import('./doctor.ts')).doctor,
  },
];
