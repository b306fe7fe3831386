/** [SEC-2] The reason why a source needs the run permission, and the field that causes it. */
export interface RunNeed {
  does: 'starts a program' | 'reads a file';
  field: string;
}

/** The path of a field in a form. */
export type FieldPath = (string | number)[];

/** A registration in any form, ready to be saved. */
export interface NormalisedRegistration<Definition> {
  name: string;
  namespace: string;
  enabled: boolean;
  definition: Definition;
  /** Secret values by the variable or field they were taken from; the definition refers to them by `secretName`. */
  secrets: Record<string, string>;
  /** [SEC-2] The runtime that would be started, and the packages, script or image it runs; null if nothing is started. */
  starts: { runtime: string; runs: string[] } | null;
  /** Fields of required values that are missing; empty unless this is a preview. */
  missing: string[];
  /** [SRC-5] The text of a document that was given; null if the document is elsewhere or already stored. */
  document: string | null;
}
