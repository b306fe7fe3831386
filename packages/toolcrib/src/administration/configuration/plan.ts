import type { CribError } from '../../model/crib-error.ts';
import type { PolicyTestResult } from '../../policy/policy-test.ts';
import type { FieldDifference } from './field-differences.ts';

/** One object that is not as the file says. `adopt`: somebody else made it, and the file takes it over. */
export interface PlannedChange {
  kind: 'source' | 'group' | 'policy';
  /** The namespace of a source, the id of everything else. */
  id: string;
  action: 'create' | 'change' | 'adopt' | 'delete';
  fields: FieldDifference[];
}

/** [SRC-6] What it would take to make everything as the file says. */
export interface Plan {
  /** Names exactly these changes. */
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
