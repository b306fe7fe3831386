import { CribError } from '../../model/crib-error.ts';
import { isObject } from '../../model/json.ts';
import type { McpRegistrationInput } from '../mcp/registration/forms.ts';
import { importServer } from '../mcp/registration/import-server.ts';
import { parseJsonc } from '../../model/parse-jsonc.ts';
import type { SourceFormInput } from '../registration/source-form.ts';
import { sourceFormSchema } from '../source-forms.ts';
import type { Fields } from './fields.ts';
import { httpManual, type HttpTool } from './http-manual.ts';
import { httpTemplate } from './http-template.ts';
import { liftedKey } from './lifted-key.ts';
import { utcpAuth } from './utcp-auth.ts';
import { withBraces } from './utcp-variables.ts';

const maxLength = 4 * 1024 * 1024;
const maxServers = 1000;

/** [SRC-4] The contents of another client's file: registrations, and the entries that could not be read. */
export interface ImportedConfig {
  registrations: ImportedRegistration[];
  problems: { entry: string; message: string }[];
}

export interface ImportedRegistration {
  entry: string;
  form: SourceFormInput;
  /** Parts of the entry that are ignored, or interpreted differently. */
  notes: string[];
}

interface ImportOptions {
  /** The name for a manual, which has none of its own. */
  name?: string | undefined;
}

/** Parses JSON, in which comments are allowed, and reads it with `readImport`. */
export function parseImport(text: string, options?: ImportOptions): ImportedConfig {
  if (text.length > maxLength) throw refusal(`The file is longer than ${maxLength} characters`);
  let value: unknown;
  try {
    value = parseJsonc(text);
  } catch (cause) {
    throw new CribError('VALIDATION_ERROR', `The file is not valid JSON: ${(cause as Error).message}`, { cause });
  }
  return readImport(value, options);
}

/**
 * [SRC-4] Reads the `mcpServers` of desktop clients and editors, and UTCP call templates and manuals. A bad entry becomes a problem, and
 * the others are still imported. Throws if there is nothing to import.
 */
export function readImport(value: unknown, { name }: ImportOptions = {}): ImportedConfig {
  const reading = new Reading();
  try {
    readAny(value, '', name, reading);
  } catch (error) {
    throw error instanceof RangeError ? refusal('The file is nested too deeply') : error;
  }
  const { registrations, problems } = reading;
  if (registrations.length === 0 && problems.length === 0) {
    throw refusal('There is nothing to import: give mcpServers, servers, or a UTCP call template or manual');
  }
  return { registrations, problems };
}

class Reading {
  readonly registrations: ImportedRegistration[] = [];
  readonly problems: ImportedConfig['problems'] = [];
  readonly #seen = new Map<string, string>();

  add(entry: string, read: () => { form: SourceFormInput; notes?: string[] }): void {
    if (this.registrations.length >= maxServers) throw refusal(`The file has more than ${maxServers} servers`);
    this.attempt(entry, () => {
      const { form, notes = [] } = read();
      check(form);
      const { name: given, ...rest } = form;
      const name = given ?? '';
      const content = JSON.stringify(rest);
      // Every tool of a UTCP manual repeats the server it comes from.
      if (this.#seen.get(name) === content) return;
      if (this.#seen.has(name)) throw new Error(`There are two different servers named ${name}: rename one of them`);
      this.#seen.set(name, content);
      this.registrations.push({ entry, form, notes });
    });
  }

  /** Records an error as a problem of this entry only. */
  attempt(entry: string, read: () => unknown): void {
    try {
      read();
    } catch (error) {
      if (error instanceof CribError || error instanceof RangeError) throw error;
      this.refuse(entry, (error as Error).message);
    }
  }

  refuse(entry: string, message: string): void {
    // Nobody reads a longer list.
    if (this.problems.length < maxServers) this.problems.push({ entry, message });
  }
}

function check(form: SourceFormInput): void {
  const checked = sourceFormSchema.safeParse(form);
  if (checked.success) return;
  const [issue] = checked.error.issues;
  throw new Error([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '));
}

function readAny(value: unknown, path: string, name: string | undefined, reading: Reading): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) readAny(item, `${path}[${index}]`, undefined, reading);
    return;
  }
  if (!isObject(value)) return;
  const at = (field: string): string => (path === '' ? field : `${path}.${field}`);
  const { config, mcp, tools, manual_call_templates: templates } = value;
  if ('call_template_type' in value || (isObject(config) && isObject(config['mcpServers'])))
    return readCallTemplate(value, path, name, reading);
  if (Array.isArray(templates)) return readAny(templates, at('manual_call_templates'), undefined, reading);
  if (Array.isArray(tools) && ('utcp_version' in value || 'manual_version' in value))
    return readManual(value, tools, at('tools'), name, reading);
  if ('tool_call_template' in value) return readManual({}, [value], path, name, reading);
  for (const field of ['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'mcp.servers']) {
    if (isObject(value[field])) readServers(value[field], at(field), reading);
  }
  if (isObject(mcp)) {
    if (isObject(mcp['servers']) || isObject(mcp['mcpServers'])) readAny(mcp, at('mcp'), undefined, reading);
    else readServers(mcp, at('mcp'), reading);
  }
  // Some documentation shows the servers without the enclosing `mcpServers`.
  const isBare =
    Object.values(value).length > 0 && Object.values(value).every((item) => isObject(item) && ('command' in item || 'url' in item));
  if (isBare) readServers(value, path, reading);
}

function readServers(servers: Fields, path: string, reading: Reading, common: () => McpRegistrationInput = () => ({})): void {
  for (const [name, entry] of Object.entries(servers)) {
    reading.add(path === '' ? name : `${path}.${name}`, () => importServer(name, entry, common()));
  }
}

/** A UTCP call template: MCP servers with shared authentication and resource settings, or the address of a manual. */
function readCallTemplate(template: Fields, path: string, name: string | undefined, reading: Reading): void {
  const { config, name: ownName } = template;
  const templateName = typeof ownName === 'string' && ownName !== '' ? ownName : undefined;
  const entry = path === '' ? (templateName ?? 'call template') : path;
  const servers = isObject(config) ? config['mcpServers'] : undefined;
  const type = typeOf(template) ?? 'mcp';
  if (type === 'http') return reading.add(entry, () => httpTemplate(template, name));
  if (type !== 'mcp') return reading.refuse(entry, unsupported(type));
  if (!isObject(servers)) return reading.refuse(entry, 'config.mcpServers: missing, so there is nothing to import');
  const { auth, register_resources_as_tools: resources } = template;
  readServers(withBraces(servers), path === '' ? 'config.mcpServers' : `${path}.config.mcpServers`, reading, () => {
    const credential = utcpAuth(withBraces(auth));
    return {
      ...(credential === undefined ? {} : { credential }),
      ...(resources === true ? { register_resources_as_tools: true } : {}),
      ...(templateName === undefined ? {} : { manual: templateName }),
    };
  });
}

/** A UTCP manual: every tool has its own call template. */
function readManual(manual: Fields, tools: unknown[], path: string, name: string | undefined, reading: Reading): void {
  const overHttp: HttpTool[] = [];
  for (const [index, tool] of tools.entries()) {
    const entry = tools.length === 1 && path === '' ? 'tool' : `${path}[${index}]`;
    const template = isObject(tool) ? (tool['tool_call_template'] ?? tool['tool_provider']) : undefined;
    if (!isObject(tool) || !isObject(template)) reading.refuse(entry, 'tool_call_template: missing, so the tool cannot be called');
    else if (typeOf(template) === 'http') reading.attempt(entry, () => overHttp.push({ entry, tool, template: liftedKey(template) }));
    else readCallTemplate(template, entry, undefined, reading);
  }
  const { utcp_version, manual_version } = manual;
  for (const { entry, form } of httpManual(overHttp, { name, utcp_version, manual_version })) reading.add(entry, () => ({ form: form() }));
}

/** Also reads `provider_type`, the name of the field before UTCP 1.0. */
function typeOf({ call_template_type: type, provider_type: former }: Fields): unknown {
  return type ?? former;
}

function unsupported(type: unknown): string {
  const written = JSON.stringify(type)?.slice(0, 100);
  if (type === 'text') return `call_template_type: ${written} refers to a file with a manual. Import that file`;
  return `call_template_type: ${written} is not supported; use mcp or http. Offer the tool over HTTP or as an MCP server`;
}

function refusal(message: string): CribError {
  return new CribError('VALIDATION_ERROR', message);
}
