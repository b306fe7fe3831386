import type { CribError } from '../../model/crib-error.ts';
import type { PolicyTestResult } from '../../policy/policy-test.ts';
import type { FieldDifference } from './field-differences.ts';

/** One object that differs from the file. `adopt`: it was made by hand, and the file takes it over. */
export interface PlannedChange {
  kind: 'source' | 'group' | 'policy';
  /** The namespace of a source, the id of everything else. */
  id: string;
  action: 'create' | 'change' | 'adopt' | 'delete';
  fields: FieldDifference[];
}

/** [SRC-6] The changes that make everything match the file. */
export interface Plan {
  /** Identifies exactly these changes. */
  fingerprint: string;
  /** In the order they would be made. */
  changes: PlannedChange[];
  tests: PolicyTestResult[];
}

export interface AppliedChange extends PlannedChange {
  outcome: 'done' | 'failed' | 'not_tried';
  error: CribError | null;
}

export interface Applied {
  /** In the order they were made. */
  changes: AppliedChange[];
  tests: PolicyTestResult[];
}
