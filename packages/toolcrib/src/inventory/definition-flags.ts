import type { DefinitionFlag } from '../model/definition-flag.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { escapeHidden, findHiddenCharacters } from './hidden-characters.ts';
import { findInstruction } from './instruction-text.ts';
import { tooLarge } from '../validation/schema-size.ts';

/** Far more than an honest tool has, and too little for a malicious one to cost much. */
const mostCharacters = 100_000;
const mostValues = 20_000;
const mostFlags = 32;
const excerptBefore = 20;
const excerptLength = 60;
const longestPointer = 300;

/** A definition never changes, and lists ask for the same ones again and again. */
const known = new WeakMap<ToolDefinition, readonly DefinitionFlag[]>();

/**
 * [INV-3] The parts of a definition that a person should look at: an unusable schema, invisible characters, and text that addresses a model
 * instead of describing the tool. A hint, not a verdict: a definition without these may still mislead.
 */
export function definitionFlags(definition: ToolDefinition): readonly DefinitionFlag[] {
  const before = known.get(definition);
  if (before !== undefined) return before;
  const flags = examine(definition);
  const unusable = tooLarge(definition.input_schema);
  if (unusable !== undefined) flags.unshift({ kind: 'unusable_schema', at: '/input_schema', excerpt: unusable });
  known.set(definition, flags);
  return flags;
}

function examine(definition: ToolDefinition): DefinitionFlag[] {
  const flags: DefinitionFlag[] = [];
  let characters = 0;
  let values = 0;
  // A stack: the last entry is visited next, so entries are pushed in reverse order.
  const left: [pointer: string, value: unknown][] = [['', definition]];
  for (let entry = left.pop(); entry !== undefined; entry = left.pop()) {
    const [pointer, value] = entry;
    values++;
    if (typeof value === 'string') look(pointer, value);
    if (characters > mostCharacters || values > mostValues) flag('unexamined', pointer, '');
    if (characters > mostCharacters || values > mostValues || flags.length >= mostFlags) return flags;
    if (typeof value !== 'object' || value === null) continue;
    const isList = Array.isArray(value);
    // Only as many entries as the limit allows are pushed, plus one, so that the limit is noticed.
    const entries = Object.entries(value).slice(0, mostValues - values + 1);
    for (const [key, inner] of entries.reverse()) {
      const at = `${pointer}/${key.slice(0, longestPointer).replaceAll('~', '~0').replaceAll('/', '~1')}`.slice(0, longestPointer);
      left.push([at, inner]);
      if (!isList && pointer !== '') left.push([at, key]);
    }
  }
  return flags;

  function flag(kind: DefinitionFlag['kind'], pointer: string, excerpt: string): void {
    flags.push({ kind, at: escapeHidden(pointer), excerpt: escapeHidden(excerpt) });
  }

  function look(pointer: string, whole: string): void {
    const text = whole.slice(0, mostCharacters - characters);
    characters += whole.length;
    for (const { kind, index } of findHiddenCharacters(text)) {
      const start = Math.max(0, index - excerptBefore);
      flag(kind, pointer, text.slice(start, start + excerptLength));
    }
    const instruction = findInstruction(text);
    if (instruction !== null) flag('instruction', pointer, instruction);
  }
}
