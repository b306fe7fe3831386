import { editDistance } from '../model/edit-distance.ts';
import type { Tool } from '../model/tool.ts';

interface Named {
  name: string;
  /** The part after the namespace. */
  own: string;
}

interface Names {
  /** The normalised name and model name. */
  byForm: ReadonlyMap<string, string>;
  byNamespace: ReadonlyMap<string, readonly Named[]>;
}

const mostSuggested = 3;
const longestAsked = 128;
/** A caller who guesses names must not cost more than one who calls. */
const mostCompared = 500;

/** How much of a name is compared. */
type NamedTool = Pick<Tool, 'name' | 'model_name' | 'namespace'>;

const namesOf = new WeakMap<readonly NamedTool[], Names>();

/**
 * The tools that an unknown name was perhaps meant for, the likeliest first. Only these tools are searched, which are the caller's own, so the
 * answer is the same whether the name is unknown or forbidden.
 */
export function suggestTools(asked: string, tools: readonly NamedTool[]): string[] {
  if (asked.length > longestAsked) return [];
  const { byForm, byNamespace } = collected(tools);
  const form = formOf(asked);
  const alike = byForm.get(form);
  if (alike !== undefined) return [alike];
  const [, namespace = '', own = ''] = /^(?:([^:.]*)[:.])?(.*)$/s.exec(asked.toLowerCase()) ?? [];
  const found: { name: string; distance: number }[] = [];
  let compared = 0;
  for (const [candidate, named] of byNamespace) {
    const far = namespace === '' ? 0 : editDistance(namespace, candidate, mostFor(namespace));
    for (const tool of named) {
      // The right tool of another source is worth suggesting, whatever the namespace is.
      if (tool.own === own) found.push({ name: tool.name, distance: Math.min(far, 1) });
      else if (far <= mostFor(namespace) && compared < mostCompared) {
        compared++;
        const distance = distanceOf(own, tool.own);
        if (distance !== undefined) found.push({ name: tool.name, distance: far + distance });
      }
    }
  }
  return found
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, mostSuggested)
    .map(({ name }) => name);
}

function distanceOf(asked: string, name: string): number | undefined {
  // The most common mistake is typing only the beginning of a long name.
  if (asked.length > 2 && name.startsWith(asked)) return 1;
  const most = mostFor(asked);
  const distance = editDistance(asked, name, most);
  return distance > most ? undefined : distance;
}

function mostFor(word: string): number {
  return Math.min(4, Math.max(1, Math.floor(word.length / 3)));
}

/** Computed once for each list, which callers with the same rights share. */
function collected(tools: readonly NamedTool[]): Names {
  const known = namesOf.get(tools);
  if (known !== undefined) return known;
  const byForm = new Map<string, string>();
  const byNamespace = new Map<string, Named[]>();
  for (const { name, model_name, namespace } of tools) {
    for (const form of [formOf(name), formOf(model_name)]) if (!byForm.has(form)) byForm.set(form, name);
    const own = name.slice(namespace.length + 1).toLowerCase();
    const others = byNamespace.get(namespace);
    if (others === undefined) byNamespace.set(namespace, [{ name, own }]);
    else others.push({ name, own });
  }
  const names = { byForm, byNamespace };
  namesOf.set(tools, names);
  return names;
}

/** `Files:Read File`, `files.read_file` and `files__read-file` are the same. */
function formOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_');
}
