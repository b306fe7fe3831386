import type { OptionTable } from '../../../model/option-table.ts';

/** Variables of a server. For an HTTP service they become headers. */
export const variableOptions = {
  env: { value: 'NAME=VALUE', many: true, help: 'An environment variable of the server. For an address, the variable becomes a header' },
  secret: {
    value: 'NAME',
    many: true,
    help: 'A variable whose value is stored encrypted. The value is asked for, or read from standard input. NAME=VALUE works too, but other users of this machine can see it',
  },
} as const satisfies OptionTable;

export const insecureOption = {
  'allow-insecure': { help: 'Allows plain http to an address on another machine' },
} as const satisfies OptionTable;

/** [ID-2] Headers and credentials for an address. */
export const addressOptions = {
  header: { value: "'Name: value'", many: true, help: 'A header for every request to the address' },
  'basic-user': {
    value: 'name',
    help: 'Basic authentication with this user name. The password is asked for, or read from standard input',
  },
  'basic-key': {
    help: 'Basic authentication with a key as the user name and no password, as Stripe uses it. The key is asked for, or read from standard input',
  },
  oauth: { help: 'Every user connects their own account. An administrator connects one more, to list the tools' },
  ...insecureOption,
} as const satisfies OptionTable;

export type AddressOption = keyof typeof addressOptions;
export type VariableOption = keyof typeof variableOptions;
