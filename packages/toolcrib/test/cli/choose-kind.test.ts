import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chooseKind, readOperand } from '../../src/cli/choose-kind.ts';
import { createGiven } from '../../src/cli/given.ts';
import { kinds } from '../../src/cli/kinds.ts';
import { defineCommandLine } from '../../src/sources/registration/command-line.ts';
import { temporaryDirectory, type TemporaryDirectory } from '../running-server.ts';

let folder: TemporaryDirectory;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder[Symbol.asyncDispose]());

/** A kind of source that there is not. */
const sheets = defineCommandLine({
  noun: 'spreadsheets',
  operands: ['spreadsheet'],
  options: { sheet: { help: 'The address or file is a spreadsheet' } },
  chosenBy: ['sheet'],
  document: { name: 'a spreadsheet', files: /\.sheet$/, option: 'sheet' },
  notes: [],
  examples: [],
  recognise: ({ written, address, text }) => {
    if (address !== undefined) return address.pathname.endsWith('/sheet') ? 'certain' : undefined;
    return written.endsWith('.sheet') && text().startsWith('cells') ? 'certain' : undefined;
  },
  register: () => ({ name: 'sheet', form: {} }),
});

function choose(written: string, values: Record<string, boolean> = {}) {
  const given = createGiven({ options: {}, values, operands: [written], env: {} });
  return chooseKind([...kinds, sheets], given, readOperand(written)).noun;
}

test.each([
  ['https://example.org/sheet', {}, 'spreadsheets'],
  ['https://example.org/mcp', { sheet: true }, 'spreadsheets'],
  ['https://example.org/mcp', {}, 'MCP servers'],
  ['npx', {}, 'MCP servers'],
])('[CLI-1] a new kind of source takes part in the choice: %s with %j is one of the %s', (written, values, noun) => {
  expect(choose(written, values)).toBe(noun);
});

test('[CLI-1] the content of a file decides which kind takes it, and a file of no kind is refused', async () => {
  const path = join(folder.path, 'a.sheet');
  await writeFile(path, 'cells: 3\n');
  expect(choose(path)).toBe('spreadsheets');
  const other = join(folder.path, 'b.sheet');
  await writeFile(other, 'something else\n');
  expect(() => choose(other)).toThrow('does not look like a spreadsheet: pass --sheet if it is');
  expect(() => choose(join(folder.path, 'nowhere.sheet'))).toThrow('There is no file');
});

test('[CLI-1] options that choose two kinds are refused', () => {
  expect(() => choose('https://example.org/x', { openapi: true, sheet: true })).toThrow('Give --openapi or --sheet, not both');
});
