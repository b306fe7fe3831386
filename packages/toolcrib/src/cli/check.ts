/** One thing `doctor` looked at. */
export interface Check {
  name: string;
  state: 'ok' | 'missing' | 'broken';
  /** Toolcrib does not run as configured without it; what is optional is for some kinds of sources only. */
  required: boolean;
  detail: string;
  /** What to do about it. */
  cure?: string;
}

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
