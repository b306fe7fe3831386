export type Fields = Record<string, unknown>;
