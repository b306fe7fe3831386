import type { OptionTable } from '../model/option-table.ts';

export const urlOption = {
  url: { value: 'url', help: 'Where the server is', env: 'TOOLCRIB_URL', default: 'http://127.0.0.1:7300' },
} as const satisfies OptionTable;

export const jsonOption = { json: { help: 'Prints the answer as JSON' } } as const satisfies OptionTable;

/** The options of every command that talks to a server for a user. */
export const clientOptions = {
  ...urlOption,
  token: { value: 'jwt', help: "The user's token", env: 'TOOLCRIB_TOKEN' },
  as: { value: 'user', help: 'A user of the development issuer, instead of a token; alice by default' },
  ...jsonOption,
} as const satisfies OptionTable;

export type ClientOption = keyof typeof clientOptions;
