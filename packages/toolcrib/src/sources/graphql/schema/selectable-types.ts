import { isComposite, isName, isRequired, namedType, type TypeTable } from './type-table.ts';

/**
 * The types that a caller's selection is checked against, in little memory. The text of a field is the name of its type (empty if that type
 * has no fields) and the names of its arguments, separated by spaces; `!` marks a required argument. `is` lists the possible object types.
 */
export interface SelectableTypes {
  [type: string]: { fields: Record<string, string>; is?: string[] };
}

const mostCharacters = 8 * 1024 * 1024;

/** Undefined if the types are too large to keep. */
export function selectableTypes({ types }: TypeTable): SelectableTypes | undefined {
  const found: SelectableTypes = {};
  let characters = 0;
  for (const type of types.values()) {
    if (!isComposite(type) || !isName(type.name)) continue;
    const fields: [string, string][] = [];
    for (const field of type.fields.values()) {
      if (!isName(field.name)) continue;
      const args = field.args.filter(({ name }) => isName(name)).map((argument) => argument.name + (isRequired(argument) ? '!' : ''));
      const inner = namedType(field.type);
      const written = [isComposite(types.get(inner)) ? inner : '', ...args].join(' ');
      characters += field.name.length + written.length + 6;
      fields.push([field.name, written]);
    }
    const is = [...type.possible].filter((name) => types.get(name)?.kind === 'object');
    characters += type.name.length + is.join().length + 40;
    if (characters > mostCharacters) return undefined;
    found[type.name] = { fields: Object.fromEntries(fields), ...(is.length === 0 ? {} : { is }) };
  }
  return found;
}
