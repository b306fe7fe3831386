import { UsageError } from '../model/usage-error.ts';
import type { ServeConfig } from '../server/server-config.ts';
import type { Given } from './given.ts';

/** [SEC-4] Where calls are recorded first, and when a record counts. */
export function journalFrom(given: Given<'journal' | 'fsync' | 'database'>): Pick<ServeConfig, 'journal' | 'fsync'> {
  const asked = given.text('journal');
  if (asked !== undefined && asked !== 'on' && asked !== 'off')
    throw new UsageError(`${given.origin('journal') ?? '--journal'} must be on or off`, { field: 'journal' });
  const fsync = given.on('fsync');
  const isOn = asked === undefined ? given.text('database') === undefined : asked === 'on';
  if (fsync && !isOn) {
    const otherwise = 'without it, the settings of the database decide what survives a power cut';
    throw new UsageError(
      `${given.origin('fsync') ?? '--fsync'} is about the journal, which is off: pass --journal on, or leave it out; ${otherwise}`,
      {
        field: 'fsync',
      },
    );
  }
  return { ...(asked === undefined ? {} : { journal: isOn }), ...(fsync ? { fsync } : {}) };
}
