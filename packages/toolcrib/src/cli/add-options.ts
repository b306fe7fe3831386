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
  pinning: { value: 'mode', help: 'quarantine: new and changed tools wait for approval. warn: changed ones are reported' },
  transport: { value: 'type', help: 'sse for an old server at an address; streamable_http is usual there' },
  'startup-timeout': { value: 'ms', help: 'How long a start may take, fetching a package included; 60000 where it is not given' },
  cwd: { value: 'folder', help: 'Where a program is started; this folder where the server is on this machine' },
  container: { value: 'name', help: 'Starts it inside this container, which runs already' },
  image: { value: 'image', help: 'Starts it inside a container that is made from this image, which must be there already' },
  memory: { value: 'MiB', help: 'What a container that is made may use of memory; 512 where it is not given' },
  cpus: { value: 'number', help: 'What it may use of processors; 1 where it is not given' },
  pids: { value: 'number', help: 'How many processes and threads it may have; 256 where it is not given' },
  network: { value: 'name', help: 'Its network: bridge, or one of yours; none where it is not given' },
  mount: {
    value: 'source:target',
    many: true,
    help: 'A folder that `serve --allow-mount` allows, or a volume, to be read inside; with :rw behind it, also written to',
  },
  user: { value: 'name', help: 'As whom it runs inside the container' },
  workdir: { value: 'folder', help: 'Where it is started inside the container' },
  'allow-insecure': { help: 'Allows plain http to an address on another machine' },
  yes: { short: 'y', help: 'As npx has it; it changes nothing here' },
  'dry-run': { help: 'Only tries it: says what would be started and what is missing, starts it once, lists its tools, and saves nothing' },
  'no-wait': { help: 'Does not wait until the source has started' },
  ...administratorOptions,
} as const satisfies OptionTable;

export type AddOption = keyof typeof addOptions;
