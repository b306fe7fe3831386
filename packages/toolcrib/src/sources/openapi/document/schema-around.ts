/** Requests leave out read-only properties. Answers leave out write-only ones, and descriptions: their schemas are only advice. */
export type Direction = 'request' | 'answer';

export function hiddenKeyword(direction: Direction): 'readOnly' | 'writeOnly' {
  return direction === 'request' ? 'readOnly' : 'writeOnly';
}

/** Facts about the surrounding schema that affect the schema inside. */
export interface Around {
  /** Properties that are left out, and so cannot be required. */
  gone: ReadonlySet<string>;
  /** Whether `additionalProperties` is ignored, because other members of `allOf` describe further properties. */
  open: boolean;
}

export const alone: Around = { gone: new Set(), open: false };
