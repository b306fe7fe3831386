import type { JsonObject } from '../../../model/json.ts';
import { reasonOf, type CompiledDocument, type CompileInput } from '../document/compile-document.ts';
import { cut, isObject, listAt, objectAt, own, textAt, wordAt } from '../document/node.ts';
import { suggestedCredential } from '../document/suggested-credential.ts';
import { toolNames } from '../document/tool-names.ts';
import { createToolTally, warnOfPolls } from '../document/tool-tally.ts';
import { compileManualTool } from './compile-manual-tool.ts';
import { declaredScheme } from './template-auth.ts';

interface ManualInput extends Pick<CompileInput, 'url' | 'serverUrl' | 'asyncPoll' | 'notes' | 'give' | 'mostValues'> {
  manual: JsonObject;
  /** What the source is called: tools may have that before their own names. */
  names: readonly string[];
}

/** [UTCP-1] The HTTP tools of a UTCP manual, as those of an OpenAPI document. */
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

  for (const [index, tool] of tools.entries()) {
    const name = legal[index] ?? '';
    const operation = cut(written[index] ?? '', 500);
    notes.begin(operation);
    try {
      tally.check(name);
      tally.add(compileManualTool(tool, name, Object.hasOwn(asyncPoll, name) ? (asyncPoll[name] ?? null) : null, context));
    } catch (error) {
      notes.skip({ operation, reason: reasonOf(error) });
    }
  }
  notes.begin();
  warnOfPolls(asyncPoll, tally, warn);
  const format = `UTCP ${cut(wordAt(own(manual, 'utcp_version')) ?? '1', 50)}`;
  return { title: names[0] ?? '', version, report: { format, operations: tools.length, ...tally.report() } };
}

/** UTCP clients put the name of the manual before those of its tools, unless it is there already. */
function withoutPrefix(name: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((candidate) => name.startsWith(`${candidate}.`) && name.length > candidate.length + 1);
  return prefix === undefined ? name : name.slice(prefix.length + 1);
}
