import { textArgument } from '../argument.ts';
import type { BuiltinTool } from '../builtin-tool.ts';
import { failedOutput, harmless, structuredOutput } from '../builtin-tool.ts';

interface Zone {
  readonly name: string;
  readonly format: Intl.DateTimeFormat;
}

/** A cache, because creating a formatter costs a thousand times as much as using it. Bounded, because callers choose the names. */
const zones = new Map<string, Zone>();
const zonesKept = 100;

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

export const currentTimeTool: BuiltinTool = {
  definition: {
    name: 'current_time',
    title: 'Current time',
    description:
      'Tells the current date, time and weekday in a time zone (UTC if none is given). ' +
      'Use it whenever an answer depends on now: today, deadlines, how long ago, what time it is somewhere.',
    input_schema: {
      type: 'object',
      properties: {
        time_zone: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          default: 'UTC',
          description: 'IANA time zone, for example "Europe/Paris", "America/New_York" or "UTC"',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        iso: { type: 'string', description: 'ISO 8601 with the offset of the zone, for example 2026-03-01T09:30:00.000+01:00' },
        time_zone: { type: 'string', description: 'The zone the time is given in' },
        utc_offset: { type: 'string', description: 'Offset from UTC now, for example +01:00' },
        unix_ms: { type: 'integer', description: 'Milliseconds since 1970-01-01T00:00:00Z' },
        weekday: { type: 'string', enum: [...weekdays], description: 'The day of the week in the zone' },
      },
      required: ['iso', 'time_zone', 'utc_offset', 'unix_ms', 'weekday'],
      additionalProperties: false,
    },
    annotations: { title: 'Current time', ...harmless },
  },
  tags: ['time'],
  run(args, _context, { clock }) {
    const asked = textArgument(args, 'time_zone', 'UTC');
    const zone = zones.get(asked) ?? openZone(asked);
    if (!zone) {
      return failedOutput(
        `Unknown time zone ${JSON.stringify(asked)}. Pass an IANA name such as "Europe/Paris", "America/New_York", "Asia/Tokyo" or "UTC".`,
      );
    }
    const now = clock.now();
    const offset = offsetAt(zone, now);
    // The zone's wall-clock time, in a Date that is read with the UTC functions.
    const local = new Date(now + offsetMs(offset));
    const iso = local.toISOString().slice(0, -1) + offset;
    const weekday = weekdays[local.getUTCDay()]!;
    return structuredOutput({ iso, time_zone: zone.name, utc_offset: offset, unix_ms: now, weekday }, `${weekday}, ${iso} (${zone.name})`);
  },
};

function openZone(asked: string): Zone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: asked, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
  // The resolved name has proper capitals, but may be outdated (Asia/Calcutta for Asia/Kolkata): then the caller's name is used.
  const resolved = format.resolvedOptions().timeZone;
  const zone = { name: resolved.toLowerCase() === asked.toLowerCase() ? resolved : asked, format };
  if (zones.size >= zonesKept) zones.delete(zones.keys().next().value!);
  zones.set(asked, zone);
  return zone;
}

/** `+01:00`, taken from the end of `3/1/2026, GMT+01:00`. */
function offsetAt(zone: Zone, now: number): string {
  const text = zone.format.format(now);
  return text.slice(text.lastIndexOf('GMT') + 3) || '+00:00';
}

function offsetMs(offset: string): number {
  const [hours, minutes, seconds = 0] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1000 : 1000) * (hours! * 3600 + minutes! * 60 + seconds);
}
