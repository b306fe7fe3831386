import type { OptionTable } from './option-table.ts';
import { administratorOptions } from './secrets-options.ts';

export const addOptions = {
  name: { value: 'text', help: 'Display name; by default made from the package, program or address' },
  namespace: { value: 'slug', help: 'Prefix of the names of its tools; by default made from the name' },
  version: { value: 'version', help: 'Pins the package to this version' },
  env: { value: 'NAME=VALUE', many: true, help: 'A variable of its environment. For an address it becomes a header' },
  secret: {
    value: 'NAME',
    many: true,
    help: 'A variable whose value is stored sealed: asked for, or read from standard input. NAME=VALUE can be seen by others on this machine',
  },
  header: { value: "'Name: value'", many: true, help: 'Sent with every request to an address' },
  setting: {
    value: 'NAME=VALUE',
    many: true,
    help: 'A value that a manifest, or the description of a server in a registry, leaves open. ${NAME} is the value of a stored secret',
  },
  'basic-user': {
    value: 'name',
    help: 'Basic authentication at an address, as this user. The password is asked for, or read from standard input',
  },
  'basic-key': {
    help: 'Basic authentication with a key as the user name and no password, as Stripe has it. Asked for, or read from standard input',
  },
  openapi: { help: 'The address or file is an OpenAPI document; seen by itself where it ends in .json, .yaml or the like' },
  workflow: { help: 'It is an Arazzo document, which describes workflows' },
  'server-url': { value: 'address', help: 'Where the service is, in place of the servers that its document names' },
  origin: { value: 'origin', many: true, help: 'Of the servers that its document names, the one that may have the credential' },
  'server-variable': { value: 'NAME=VALUE', many: true, help: "A variable in the address of the document's server" },
  'external-ref': {
    value: 'address',
    many: true,
    help: 'Allows references to addresses with this prefix; none by default',
  },
  source: { value: 'NAME=NAMESPACE', many: true, help: 'The source that a source description of an Arazzo document means' },
  tag: { value: 'glob', many: true, help: 'Takes only operations with this tag' },
  method: { value: 'method', many: true, help: 'Takes only operations of this method, such as GET' },
  path: { value: 'glob', many: true, help: "Takes only operations with this path, such as '/users/*'" },
  include: { value: 'glob', many: true, help: 'Takes the tools of this name' },
  exclude: { value: 'glob', many: true, help: 'Leaves out the tools of this name' },
  oauth: { help: 'Every user connects to the address for themselves; so does an administrator, for its list of tools' },
  lifecycle: {
    value: 'mode',
    help: 'singleton: one process, kept and shared, so calls are quick. transient: a fresh process for every call',
    default: 'singleton',
  },
  standby: { value: 'n', help: 'Processes of a transient server that are started ahead of the calls' },
  pinning: { value: 'mode', help: 'quarantine: new and changed tools wait for approval. warn: changed ones are reported' },
  transport: { value: 'type', help: 'For an address: streamable_http, or sse for an old server; sse where the path ends in /sse' },
  'startup-timeout': { value: 'ms', help: 'Timeout for a start, including the fetch of a package; 60000 by default' },
  cwd: { value: 'folder', help: 'Where a program or package is started; for a program this folder, unless the server is elsewhere' },
  container: { value: 'name', help: 'Starts it inside this container, which runs already' },
  image: { value: 'image', help: 'Starts it inside a container that is made from this image, which must be there already' },
  memory: { value: 'MiB', help: 'Memory limit of the container; 512 by default' },
  cpus: { value: 'number', help: 'Processor limit of the container; 1 by default' },
  pids: { value: 'number', help: 'Limit of processes and threads; 256 by default' },
  network: { value: 'name', help: 'Its network: bridge, or one of yours; none by default' },
  mount: {
    value: 'source:target',
    many: true,
    help: 'A folder that `serve --allow-mount` allows, or a volume, to be read inside; with :rw behind it, also written to',
  },
  user: { value: 'name', help: 'The user it runs as inside the container' },
  workdir: { value: 'folder', help: 'Where it is started inside the container' },
  'allow-insecure': { help: 'Allows plain http to an address on another machine' },
  yes: { short: 'y', help: 'Accepted as npx does; has no effect' },
  'dry-run': { help: 'Only tries it: says what would be started and what is missing, starts it once, lists its tools, and saves nothing' },
  'no-wait': { help: 'Does not wait until the source has started' },
  ...administratorOptions,
} as const satisfies OptionTable;

export type AddOption = keyof typeof addOptions;
