/** One thing `doctor` looked at. */
export interface Check {
  name: string;
  state: 'ok' | 'missing' | 'broken';
  /** Whether Toolcrib needs it to run as configured. Optional things are for some sources only. */
  required: boolean;
  detail: string;
  /** What to do about it. */
  cure?: string;
}

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
