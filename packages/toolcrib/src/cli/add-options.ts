import type { OptionTable } from '../model/option-table.ts';
import { kinds } from './kinds.ts';
import { administratorOptions } from './secrets-options.ts';

/** The options that name a source. */
const nameOptions = {
  name: { value: 'text', help: 'Display name; by default derived from the package, program or address' },
  namespace: { value: 'slug', help: 'Prefix of its tool names; by default derived from the name' },
} as const satisfies OptionTable;

/** The options of every source, and of the command itself. */
const commonOptions = {
  tag: { value: 'glob', many: true, help: 'Includes only operations with this tag' },
  method: { value: 'method', many: true, help: 'Includes only operations with this method, such as GET' },
  path: { value: 'glob', many: true, help: "Includes only operations with this path, such as '/users/*'" },
  include: { value: 'glob', many: true, help: 'Includes tools with this name' },
  exclude: { value: 'glob', many: true, help: 'Excludes tools with this name' },
  pinning: { value: 'mode', help: 'quarantine: new and changed tools wait for approval. warn: changed ones are reported' },
  'startup-timeout': { value: 'ms', help: 'Timeout for starting the source, including the download of a package; 60000 by default' },
  yes: { short: 'y', help: 'Accepted because npx has it; has no effect' },
  'dry-run': {
    help: 'Tries the source without saving it: shows what would be started and which values are missing, starts it once, and lists its tools',
  },
  'no-wait': { help: 'Does not wait until the source has started' },
  ...administratorOptions,
} as const satisfies OptionTable;

/** The options of `toolcrib add` that belong to no kind of source. */
export type CommonAddOption = keyof typeof nameOptions | keyof typeof commonOptions;

export const addOptions: OptionTable = compose();

function compose(): OptionTable {
  const table = new Map(Object.entries<OptionTable[string]>(nameOptions));
  for (const [name, spec] of [...kinds.flatMap(({ options }) => Object.entries(options)), ...Object.entries(commonOptions)]) {
    if ((table.get(name) ?? spec) !== spec) throw new Error(`--${name} means two things in toolcrib add`);
    table.set(name, spec);
  }
  return Object.fromEntries(table);
}
