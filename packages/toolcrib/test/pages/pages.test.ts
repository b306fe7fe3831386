import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { part, type Part, type PartName } from '../parts.ts';
import { notRun } from './not-run.ts';
import { withoutComment } from './page-script.ts';
import { commandsIn, pages, readBlocks } from './read-page.ts';
import { stages } from './stages.ts';
import { startStandIns } from './stand-ins.ts';
import { tryPage } from './try-page.ts';

const needed = new Set(Object.values(stages).flatMap(({ parts = [] }) => parts));
const found = new Map<PartName, Part>([...needed].map((name) => [name, part(name)]));
const isThere = (page: string) => (stages[page]?.parts ?? []).every((name) => found.get(name)?.available);

const isCommand = ({ kind }: { kind: string }) => kind === 'sh' || kind === 'sh background';
const commandsOf = (page: string) =>
  readBlocks(page)
    .filter(isCommand)
    .flatMap(({ text }) => commandsIn(text).map(withoutComment));

describe('the pages', () => {
  test('say what every code block is, so that no command is overlooked', () => {
    const unnamed = pages.flatMap((page) =>
      readBlocks(page)
        .filter(
          ({ kind, text }) =>
            !/^(sh|sh background|text|json|yaml|ts|nginx)$/.test(kind) ||
            (kind === 'text' && /^(npx|npm|curl) /m.test(text) && page !== 'README.md'),
        )
        .map(({ line }) => `${page}:${line}`),
    );
    expect(unnamed).toEqual([]);
  });

  test('contain every command that is listed as not run, each with its reason', () => {
    const said = new Set(pages.flatMap(commandsOf));
    expect(Object.keys(notRun).filter((command) => !said.has(command))).toEqual([]);
    expect(Object.values(notRun).every((reason) => reason.length > 10)).toBe(true);
  });
});

describe('the commands on a page', () => {
  let services: Awaited<ReturnType<typeof startStandIns>>;
  beforeAll(async () => {
    services = await startStandIns();
  });
  afterAll(() => services[Symbol.asyncDispose]());

  const toTry = pages.filter((page) => commandsOf(page).some((command) => !(command in notRun)));
  test.for(toTry)('work as they stand: %s', { timeout: 600_000 }, async (page, { skip }) => {
    skip(!isThere(page), 'a part is missing, as said above');
    expect(await tryPage(page, stages[page] ?? {}, services.standIns)).toBe('');
  });
});
