import type { HttpOperation } from '../../../model/http-operation.ts';
import { closest } from '../../../model/closest.ts';
import { fragmentToken } from '../../../model/json-pointer.ts';
import type { Tool } from '../../../model/tool.ts';
import type { ArazzoDocument, ArazzoStep } from '../document/arazzo-document.ts';
import { Unsupported } from '../unsupported.ts';

/** A source that steps may call, with its current tools. */
export interface RegisteredSource {
  namespace: string;
  tools: readonly Tool[];
}

export interface Sources {
  descriptions: ArazzoDocument['sourceDescriptions'];
  /** Finds the registered source for the source description of this name. */
  find(name: string): RegisteredSource | undefined;
}

export type OperationTool = Tool & { readonly operation: HttpOperation };

/** Finds the tool that a step calls. Throws `Unsupported` if there is none, or more than one. */
export function bindOperation({ operationId, operationPath }: ArazzoStep, sources: Sources): OperationTool {
  if (operationId !== undefined) return byId(operationId, sources);
  const path = /^\{?\$sourceDescriptions\.(.+?)\.url\}?#\/paths\/([^/]+)(?:\/([A-Za-z]+))?$/.exec(operationPath ?? '');
  if (path === null) {
    throw new Unsupported(`operationPath must be {$sourceDescriptions.<name>.url}#/paths/<path>/<method>, not ${operationPath}`);
  }
  const [, name = '', pointer = '', method] = path;
  const wanted = fragmentToken(pointer);
  const found = toolsOf(name, sources).filter(({ operation }) => operation.path === wanted && isMethod(operation, method));
  const paths = toolsOf(name, sources).map(({ operation }) => operation.path);
  return only(found, method === undefined ? wanted : `${method.toUpperCase()} ${wanted}`, {
    names: [name],
    meant: meant(wanted, paths),
    sources,
  });
}

function byId(written: string, sources: Sources): OperationTool {
  const openapi = sources.descriptions.filter(({ type }) => type === 'openapi').map(({ name }) => name);
  if (!written.startsWith('$')) return withId(openapi, written, sources);
  // The names of source descriptions and of operations may contain dots.
  const name = sources.descriptions.map((one) => one.name).find((one) => written.startsWith(`$sourceDescriptions.${one}.`));
  if (name === undefined) throw new Unsupported(`${written} names no source description of this document`);
  const id = written.slice(`$sourceDescriptions.${name}.`.length);
  return withId([name], id, sources);
}

function withId(names: string[], id: string, sources: Sources): OperationTool {
  const tools = names.flatMap((name) => toolsOf(name, sources));
  const found = tools.filter(({ operation }) => operation.operation_id === id);
  const ids = found.length > 0 ? [] : tools.flatMap(({ operation }) => operation.operation_id ?? []);
  return only(found, id, { names, meant: meant(id, ids), sources });
}

const longestGuessed = 100;
const mostGuessed = 5000;

/** The candidate that was probably meant; one that differs only in letter case comes first. */
function meant(written: string, candidates: readonly string[]): string | undefined {
  if (written.length > longestGuessed) return undefined;
  const near = candidates.filter(({ length }) => length <= longestGuessed).slice(0, mostGuessed);
  const small = written.toLowerCase();
  return near.find((candidate) => candidate.toLowerCase() === small) ?? closest(written, near);
}

function toolsOf(name: string, { descriptions, find }: Sources): OperationTool[] {
  const description = descriptions.find((one) => one.name === name);
  if (description === undefined) throw new Unsupported(`${name} is not a source description of this document`);
  if (description.type !== 'openapi')
    throw new Unsupported(`${name} is another Arazzo document; only workflows of this document can be called`);
  const source = find(name);
  if (source === undefined) {
    throw new Unsupported(`no source is registered for ${name}; register ${description.url}, and name its namespace in \`sources\``);
  }
  return source.tools.filter((tool): tool is OperationTool => tool.operation !== null && tool.state !== 'deprecated');
}

interface Sought {
  /** Names of source descriptions. */
  names: string[];
  meant: string | undefined;
  sources: Sources;
}

function only(found: OperationTool[], wanted: string, { names, meant: guess, sources: { find } }: Sought): OperationTool {
  const [tool, another] = found;
  if (tool !== undefined && another === undefined) return tool;
  const where = names.map((name) => find(name)?.namespace ?? name).join(', ');
  if (tool !== undefined) throw new Unsupported(`${wanted} matches more than one tool of ${where}; use an operationPath with a method`);
  const hint =
    guess === undefined || wanted.endsWith(guess) ? 'refresh that source, or check what its import skipped' : `did you mean ${guess}?`;
  throw new Unsupported(`${wanted} is not a tool of ${where}; ${hint}`);
}

function isMethod(operation: HttpOperation, method: string | undefined): boolean {
  return method === undefined || operation.method === method.toUpperCase();
}
