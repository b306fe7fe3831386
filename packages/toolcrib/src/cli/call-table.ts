import { align, cut } from '../text/align.ts';
import type { ShownCall } from './call-client.ts';
import { lineWidth, paint } from './terminal.ts';
import { printable } from '../text/printable.ts';

const header = ['TIME', 'STATUS', 'TOOK', 'USER', 'TOOL', 'ERROR'];
/** Wide enough for most calls, so that later lines are aligned too. */
const leastWidths = [8, 9, 6, 8, 20];

/** The tool name of a denied call comes from the caller. */
const mostOfUser = 24;
const leastOfTool = 20;

const colours: Record<string, 'green' | 'red' | 'yellow' | 'dim'> = {
  completed: 'green',
  failed: 'red',
  timed_out: 'red',
  unknown: 'yellow',
  running: 'yellow',
};

/** Calls as lines for a person. Later lines keep the columns of earlier ones. */
export function createCallTable({ now = Date.now }: { now?: () => number } = {}) {
  let widths = leastWidths;

  function lines(rows: string[][], paintCell: (text: string, column: number, row: number) => string): string[] {
    widths = widths.map((width, column) => Math.max(width, ...rows.map((row) => row[column]?.length ?? 0)));
    return align(rows, { width: lineWidth(), least: widths, paint: paintCell });
  }

  return {
    first(calls: readonly ShownCall[]): string[] {
      return lines([header, ...calls.map((call) => cellsOf(call, now()))], (text, column, row) =>
        row === 0 ? paint('dim', text) : paintCell(calls[row - 1], text, column),
      );
    },
    further(calls: readonly ShownCall[]): string[] {
      return lines(
        calls.map((call) => cellsOf(call, now())),
        (text, column, row) => paintCell(calls[row], text, column),
      );
    },
  };
}

function paintCell(call: ShownCall | undefined, text: string, column: number): string {
  if (column === 1) return paint(colours[call?.status ?? ''] ?? 'dim', text);
  return column === 4 ? paint('bold', text) : text;
}

function cellsOf(call: ShownCall, now: number): string[] {
  const { started_at, status, duration_us, user_name, subject, tool } = call;
  const took = status === 'running' ? '' : durationText(duration_us / 1000);
  const before = [timeText(started_at, now), status, took, short(user_name ?? subject, mostOfUser)];
  // The rest of the line is for the tool, and some of it for the error.
  const left = lineWidth() - before.reduce((sum, cell, column) => sum + Math.max(cell.length, leastWidths[column] ?? 0) + 2, 0);
  return [...before, short(tool, Math.max(leastOfTool, Math.floor(left * 0.7))), errorText(call)];
}

/** A failure that the tool reports has the code of an outage, but is none. */
function errorText({ error_code, error_origin }: ShownCall): string {
  if (error_origin === 'tool' && error_code === 'SERVICE_UNAVAILABLE') return 'reported by the tool';
  return error_code ?? '';
}

function short(text: string, width: number): string {
  return cut(printable(text).replaceAll(/\s+/g, ' ').trim(), width);
}

/** In the time zone of this machine; with the date unless it is today. */
function timeText(epochMs: number, now: number): string {
  const [day = '', time = ''] = localText(epochMs).split(' ');
  const [today = ''] = localText(now).split(' ');
  if (day === today) return time;
  return day.slice(0, 4) === today.slice(0, 4) ? `${day.slice(5)} ${time}` : `${day} ${time}`;
}

function localText(epochMs: number): string {
  const at = new Date(epochMs);
  return new Date(epochMs - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ');
}

function durationText(ms: number): string {
  if (ms < 999.5) return `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  return whole < 3600 ? `${Math.floor(whole / 60)}m${whole % 60}s` : `${Math.floor(whole / 3600)}h${Math.floor((whole % 3600) / 60)}m`;
}
