import { readFileSync, statSync } from 'node:fs';
import { UsageError } from '../model/usage-error.ts';
import type { Certainty, CommandLine, GivenOptions, Operand } from '../sources/registration/command-line.ts';
import { mostDocumentBytes } from '../sources/registration/document-form.ts';

const byCertainty: readonly (Certainty | undefined)[] = ['certain', 'likely', 'possible', undefined];

/** What an operand may be: an address, a file here, or a word. */
export function readOperand(written: string): Operand {
  const isAddress = /^https?:\/\//i.test(written);
  const address = isAddress ? (URL.parse(written) ?? undefined) : undefined;
  if (isAddress && address === undefined) throw new UsageError(`${JSON.stringify(written)} is not an address`);
  let read: string | undefined;
  return { written, address, text: () => (read ??= readText(written)) };
}

/** The kind of source that the command line asks for: by an option that says so, or by the operand. */
export function chooseKind(kinds: readonly CommandLine[], given: GivenOptions, operand: Operand | undefined): CommandLine {
  const chosen = kinds.flatMap((kind) => {
    const option = kind.chosenBy.find((name) => given.origin(name) !== undefined);
    return option === undefined ? [] : [{ kind, option }];
  });
  const [first, second] = chosen;
  if (first !== undefined && second !== undefined)
    throw new UsageError(`Give --${first.option} or --${second.option}, not both`, { field: second.option });
  if (first !== undefined) return first.kind;
  if (operand === undefined) throw new UsageError('Name something to add: npx or uvx and a package, an address, a document, or a program');
  return recognise(kinds, operand);
}

function recognise(kinds: readonly CommandLine[], operand: Operand): CommandLine {
  const [surest] = kinds
    .map((kind) => ({ kind, rank: byCertainty.indexOf(kind.recognise(operand)) }))
    .toSorted((one, other) => one.rank - other.rank);
  const documents = operand.address === undefined ? kinds.flatMap(({ document }) => document ?? []) : [];
  const candidates = documents.filter(({ files }) => files.test(operand.written));
  const isUnknown = candidates.length > 0 && (surest?.rank ?? Infinity) >= byCertainty.indexOf('possible');
  if (surest === undefined || isUnknown) throw unknownDocument(operand, candidates);
  return surest.kind;
}

function unknownDocument({ written, text }: Operand, candidates: readonly NonNullable<CommandLine['document']>[]): UsageError {
  if (/"(?:mcpServers|utcp_version|call_template_type)"\s*:/.test(text()))
    return new UsageError(`${JSON.stringify(written)} was written for another client: use toolcrib import ${written}`);
  const [names, options] = [candidates.map(({ name }) => name), candidates.map(({ option }) => `--${option}`)];
  const problem =
    names.length === 1
      ? `does not look like ${names[0]}: pass ${options[0]} if it is`
      : `looks like neither ${listed(names, 'nor')}: say which with ${listed(options, 'or')}`;
  return new UsageError(`${JSON.stringify(written)} ${problem}`);
}

/** `a or b`, `a, b or c`. */
function listed(words: readonly string[], conjunction: string): string {
  return `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`;
}

function readText(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) throw new UsageError(`There is no file ${JSON.stringify(path)} here`);
  if (found.size > mostDocumentBytes) throw new UsageError(`${JSON.stringify(path)} has more than ${mostDocumentBytes} bytes`);
  return readFileSync(path, 'utf8');
}
