import type { OptionTable } from './option-table.ts';
import { administratorOptions } from './secrets-options.ts';

export const addOptions = {
  name: { value: 'text', help: 'What people call the source; made from the package, program or address where it is not given' },
  namespace: { value: 'slug', help: 'Leads the names of its tools; made from the name where it is not given' },
  version: { value: 'version', help: 'Pins the package to this version' },
  env: { value: 'NAME=VALUE', many: true, help: 'A variable of its environment. For an address it becomes a header' },
  secret: {
    value: 'NAME',
    many: true,
    help: 'A variable whose value is stored sealed: asked for, or read from standard input. NAME=VALUE can be seen by others on this machine',
  },
  header: { value: "'Name: value'", many: true, help: 'Sent with every request to an address' },
  oauth: { help: 'Every user connects to the address for themselves; so does an administrator, for its list of tools' },
  lifecycle: {
    value: 'mode',
    help: 'singleton: one process, kept and shared, so calls are quick. transient: a fresh process for every call',
    default: 'singleton',
  },
  standby: { value: 'n', help: 'Processes of a transient server that are started ahead of the calls' },
  transport: { value: 'type', help: 'sse for an old server at an address; streamable_http is usual there' },
  'startup-timeout': { value: 'ms', help: 'How long a start may take, fetching a package included; 60000 where it is not given' },
  cwd: { value: 'folder', help: 'Where a program is started; this folder where the server is on this machine' },
  'allow-insecure': { help: 'Allows plain http to an address on another machine' },
  yes: { short: 'y', help: 'As npx has it; it changes nothing here' },
  'no-wait': { help: 'Does not wait until the source has started' },
  ...administratorOptions,
} as const satisfies OptionTable;

export type AddOption = keyof typeof addOptions;
