import { CribError } from '../../../model/crib-error.ts';
import type { McpRegistrationInput } from './forms.ts';
import { importServer } from './import-server.ts';
import { utcpAuth } from './import-utcp.ts';
import { parseJsonc } from './parse-jsonc.ts';

const maxLength = 4 * 1024 * 1024;
const maxServers = 1000;

/** [SRC-4] What a file of another client says: registrations, and beside them what could not be read. */
export interface ImportedConfig {
  registrations: { entry: string; form: McpRegistrationInput }[];
  problems: { entry: string; message: string }[];
}

type Fields = Record<string, unknown>;

/**
 * [SRC-4] Reads the `mcpServers` of desktop clients and editors, and UTCP call templates and manuals. The text is refused only as a whole
 * that cannot be read; one bad entry stands beside the good ones.
 */
export function parseImport(text: string): ImportedConfig {
  if (text.length > maxLength) throw refusal(`The file is longer than ${maxLength} characters`);
  let value: unknown;
  try {
    value = parseJsonc(text);
  } catch (cause) {
    throw new CribError('VALIDATION_ERROR', `The file is not valid JSON: ${(cause as Error).message}`, { cause });
  }
  const reading = new Reading();
  readAny(value, '', reading);
  const { registrations, problems } = reading;
  if (registrations.length === 0 && problems.length === 0) {
    throw refusal('There is no MCP server in the file: it needs mcpServers, servers, or a UTCP call template with them');
  }
  return { registrations, problems };
}

class Reading {
  readonly registrations: ImportedConfig['registrations'] = [];
  readonly problems: ImportedConfig['problems'] = [];
  readonly #seen = new Map<string, string>();

  add(entry: string, read: () => McpRegistrationInput): void {
    if (this.registrations.length + this.problems.length >= maxServers) throw refusal(`The file has more than ${maxServers} servers`);
    try {
      const form = read();
      const { name: given, ...rest } = form;
      const name = given ?? '';
      const content = JSON.stringify(rest);
      // Every tool of a UTCP manual repeats the server it comes from.
      if (this.#seen.get(name) === content) return;
      if (this.#seen.has(name)) throw new Error(`There are two different servers named ${name}: rename one of them`);
      this.#seen.set(name, content);
      this.registrations.push({ entry, form });
    } catch (error) {
      if (error instanceof CribError) throw error;
      this.problems.push({ entry, message: (error as Error).message });
    }
  }
}

function readAny(value: unknown, path: string, reading: Reading): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) readAny(item, `${path}[${index}]`, reading);
    return;
  }
  if (!isFields(value)) return;
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const { config, mcp, tools, manual_call_templates: templates } = value;
  if ('call_template_type' in value || (isFields(config) && isFields(config['mcpServers']))) return readCallTemplate(value, path, reading);
  if (Array.isArray(templates)) return readAny(templates, at('manual_call_templates'), reading);
  if (Array.isArray(tools) && ('utcp_version' in value || 'manual_version' in value)) return readManual(tools, at('tools'), reading);
  for (const name of ['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'mcp.servers']) {
    if (isFields(value[name])) readServers(value[name], at(name), reading);
  }
  if (isFields(mcp)) {
    if (isFields(mcp['servers']) || isFields(mcp['mcpServers'])) readAny(mcp, at('mcp'), reading);
    else readServers(mcp, at('mcp'), reading);
  }
  // Some documentation shows the servers alone, without what they stand in.
  const isBare =
    Object.values(value).length > 0 && Object.values(value).every((item) => isFields(item) && ('command' in item || 'url' in item));
  if (isBare) readServers(value, path, reading);
}

function readServers(servers: Fields, path: string, reading: Reading, common: () => McpRegistrationInput = () => ({})): void {
  for (const [name, entry] of Object.entries(servers)) {
    reading.add(path === '' ? name : `${path}.${name}`, () => importServer(name, entry, common()));
  }
}

/** A UTCP call template: its servers share what it says of authentication and resources. */
function readCallTemplate(template: Fields, path: string, reading: Reading): void {
  const { config, auth, register_resources_as_tools: resources, call_template_type: type = 'mcp', name } = template;
  const entry = path === '' ? (typeof name === 'string' ? name : 'call template') : path;
  const servers = isFields(config) ? config['mcpServers'] : undefined;
  if (type !== 'mcp') {
    reading.add(entry, () => {
      throw new Error(
        `call_template_type: ${JSON.stringify(type)} describes no MCP server. Register an HTTP service by its OpenAPI document`,
      );
    });
  } else if (!isFields(servers)) {
    reading.add(entry, () => {
      throw new Error('config.mcpServers: there is none, so there is nothing to import');
    });
  } else {
    readServers(servers, path === '' ? 'config.mcpServers' : `${path}.config.mcpServers`, reading, () => ({
      ...utcpAuth(auth),
      ...(resources === true ? { register_resources_as_tools: true } : {}),
    }));
  }
}

/** A UTCP manual: every tool says how it is called. */
function readManual(tools: unknown[], path: string, reading: Reading): void {
  for (const [index, tool] of tools.entries()) {
    const template = isFields(tool) ? (tool['tool_call_template'] ?? tool['tool_provider']) : undefined;
    const entry = `${path}[${index}]`;
    if (isFields(template)) readCallTemplate(template, entry, reading);
    else
      reading.add(entry, () => {
        throw new Error('tool_call_template: there is none, so it is not known how the tool is called');
      });
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refusal(message: string): CribError {
  return new CribError('VALIDATION_ERROR', message);
}
