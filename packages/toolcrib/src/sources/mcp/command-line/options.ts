import type { OptionTable } from '../../../model/option-table.ts';
import { addressOptions, variableOptions } from '../../registration/command-line/shared-options.ts';

export const mcpOptions = {
  ...variableOptions,
  ...addressOptions,
  version: { value: 'version', help: 'Pins the package to this version' },
  setting: {
    value: 'NAME=VALUE',
    many: true,
    help: 'A value that the manifest or the registry entry leaves open. ${NAME} is the value of a stored secret',
  },
  lifecycle: {
    value: 'mode',
    help: 'singleton: one shared process that keeps running, so calls are fast. transient: a new process for every call',
    default: 'singleton',
  },
  standby: { value: 'n', help: 'How many processes of a transient server are started in advance' },
  transport: {
    value: 'type',
    help: 'For an address: streamable_http, or sse for old servers. Default: sse if the path ends in /sse, otherwise streamable_http',
  },
  cwd: {
    value: 'folder',
    help: 'The working directory of a program or package. Default for a program: this folder, if the server is on this machine',
  },
  container: { value: 'name', help: 'Runs the server in this container, which is already running' },
  image: { value: 'image', help: 'Runs the server in a new container from this image' },
  pull: { value: 'when', help: 'When to pull the image: missing (default), always (at every start of the source) or never' },
  memory: { value: 'MiB', help: 'Memory limit of the container; 512 by default' },
  cpus: { value: 'number', help: 'CPU limit of the container; 1 by default' },
  pids: { value: 'number', help: 'Limit of processes and threads in the container; 256 by default' },
  network: { value: 'name', help: 'Network of the container: bridge, or one of yours; none by default' },
  mount: {
    value: 'source:target',
    many: true,
    help: 'Mounts a volume, or a folder that `serve --allow-mount` allows, read-only. Append :rw to make it writable',
  },
  user: { value: 'name', help: 'The user inside the container' },
  workdir: { value: 'folder', help: 'The working directory inside the container' },
} as const satisfies OptionTable;

export type McpOption = keyof typeof mcpOptions;
