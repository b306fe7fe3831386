import { isObject, type JsonObject } from '../../../model/json.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { CompiledDocument, CompileInput } from '../document/compile-document.ts';
import { compileTools } from '../document/compile-tools.ts';
import { cut, listAt, objectAt, own, textAt, wordAt } from '../../documents/node.ts';
import { suggestedCredential } from '../document/suggested-credential.ts';
import { toolNames } from '../document/tool-names.ts';
import { createToolTally } from '../document/tool-tally.ts';
import { compileManualTool } from './compile-manual-tool.ts';
import { declaredScheme } from './template-auth.ts';

interface ManualInput extends Pick<CompileInput, 'url' | 'serverUrl' | 'asyncPoll' | 'notes' | 'give' | 'mostValues'> {
  manual: JsonObject;
  /** The source's names, which tools may carry as a prefix. */
  names: readonly string[];
}

/** [UTCP-1] Compiles the HTTP tools of a UTCP manual, with the same report as for an OpenAPI document. */
export function compileManual({ manual, url, serverUrl, asyncPoll, notes, give, mostValues, names }: ManualInput): CompiledDocument {
  const tools = listAt(own(manual, 'tools')).map(objectAt);
  const version = cut(wordAt(own(manual, 'manual_version')) ?? '', 200);
  const { warn } = notes;
  const auths = tools.map((tool) => own(objectAt(own(tool, 'tool_call_template')), 'auth'));
  const oauth2 = auths.find((auth) => isObject(auth) && own(auth, 'auth_type') === 'oauth2');
  const tally = createToolTally({
    give,
    mostValues,
    suggest: (requirement) => suggestedCredential(requirement, declaredScheme(oauth2), url),
  });
  const context = { serverUrl, version, wantsAuth: auths.some(isObject), warn };
  const written = tools.map((tool) => withoutPrefix(textAt(own(tool, 'name')) ?? 'tool', names));
  const legal = toolNames(written.map((name, index) => ({ method: 'tool', path: `${name} ${index}`, operationId: name })));

  const found = tools.map((tool, index) => {
    const name = legal[index] ?? '';
    const operation = cut(written[index] ?? '', 500);
    return { name, operation, compile: (poll: PollProfile | null) => compileManualTool(tool, name, poll, context) };
  });
  compileTools(found, { asyncPoll, tally, notes });
  const format = `UTCP ${cut(wordAt(own(manual, 'utcp_version')) ?? '1', 50)}`;
  return { title: names[0] ?? '', version, report: { format, operations: tools.length, ...tally.report() } };
}

/** UTCP clients prefix tool names with the name of the manual, unless the prefix is already there. */
function withoutPrefix(name: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((candidate) => name.startsWith(`${candidate}.`) && name.length > candidate.length + 1);
  return prefix === undefined ? name : name.slice(prefix.length + 1);
}
