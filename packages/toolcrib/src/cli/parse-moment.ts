import { UsageError } from '../model/usage-error.ts';

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const date = /^\d{4}-\d\d-\d\d$/;
const time = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/;

/** A moment as people write it, in epoch milliseconds: `1h` ago, `yesterday`, a date or a time; by default in the time zone of this machine. */
export function parseMoment(text: string, field: string, now = Date.now()): number {
  const said = text.trim();
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(said) ?? [];
  if (count !== undefined) return Math.max(0, now - Number(count) * (unitMs[unit] ?? 0));
  if (said === 'now') return now;
  if (said === 'today' || said === 'yesterday') {
    const day = new Date(now);
    day.setHours(0, 0, 0, 0);
    // By the calendar: a day may have 23 or 25 hours.
    if (said === 'yesterday') day.setDate(day.getDate() - 1);
    return day.getTime();
  }
  // A date alone would be read as UTC.
  const at = date.test(said) ? Date.parse(`${said}T00:00`) : time.test(said) ? Date.parse(said.replace(' ', 'T')) : Number.NaN;
  if (at >= 0) return at;
  throw new UsageError(
    `--${field} must be a time such as 1h, 30m, yesterday, 2026-11-16 or 2026-11-16T12:00, not ${JSON.stringify(text)}`,
    {
      field,
    },
  );
}
