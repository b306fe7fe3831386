import { looksSecret } from '../../../secrets/secret-looks.ts';
import { isComposite, isLeaf, isName, isRequired, namedType, type SchemaField, type SchemaType, type TypeTable } from './type-table.ts';

export interface SelectionLimits {
  /** How many levels of nested objects are requested. */
  depth: number;
  /** How many fields are requested at most. */
  fields: number;
}

/** Fields of one nested object: enough to identify it. */
const mostInside = 8;
/** The share of the budget for the fields of the returned object itself. The rest is for nested objects. */
const shareOfRoot = 2 / 3;
/** If an interface or union has more types than this, only the fields that all of them have are requested. */
const mostFragments = 10;

/** One object of a response, and the fields that are requested of it. */
interface Asked {
  type: SchemaType;
  /** How many levels of objects may be nested in this one. */
  depth: number;
  /** The types of this object and of the objects around it, which are not requested again inside. */
  around: ReadonlySet<string>;
  /** Scalar and enum fields, as they are written. */
  leaves: string[];
  /** Fields with nested objects, and inline fragments for single types of an interface or union. */
  inside: [written: string, asked: Asked][];
}

/**
 * The selection for calls without one: scalars first and level by level, so that a small budget still shows what a response is about. It
 * leaves out deprecated fields, fields that require arguments, fields that look like secrets, and nested paged lists, because their page
 * size is unknown.
 */
export function defaultSelection({ types }: TypeTable, name: string, limits: SelectionLimits): string {
  let left = limits.fields;
  const type = types.get(name);
  if (type === undefined || !isComposite(type)) return '';
  const root: Asked = { type, depth: limits.depth, around: new Set([name]), leaves: [], inside: [] };
  // The list grows during the loop, level by level.
  const pending = [root];
  for (const asked of pending) {
    const fields = [...asked.type.fields.values()].filter(isAskable).toSorted((a, b) => rankOf(a.name) - rankOf(b.name));
    if (asked.type.kind !== 'object') asked.leaves.push('__typename');
    asked.leaves.push(
      ...taken(fields.filter(hasNoFields), asked === root ? Math.ceil(limits.fields * shareOfRoot) : mostInside).map((field) => field.name),
    );
    const objects = fields.flatMap((field) => insideOf(field, asked));
    asked.inside.push(...fragmentsOf(asked), ...objects);
    pending.push(...objects.map(([, inner]) => inner));
  }
  return printed(root) ?? '{ __typename }';

  function hasNoFields(field: SchemaField): boolean {
    return isLeaf(types.get(namedType(field.type)));
  }

  function taken(fields: readonly SchemaField[], most: number): readonly SchemaField[] {
    const some = fields.slice(0, Math.min(most, left));
    left -= some.length;
    return some;
  }

  function insideOf(field: SchemaField, { type: outer, depth, around }: Asked): [string, Asked][] {
    const inner = types.get(namedType(field.type));
    // The parts of a page do not count as a level: the depth is that of the page's entries.
    const isOfPage = isPage(outer) && /^(?:nodes|edges|node|pageInfo)$/.test(field.name);
    const isTwice = field.name === 'edges' && isPage(outer) && outer.fields.has('nodes');
    if (inner === undefined || !isComposite(inner) || around.has(inner.name) || isTwice) return [];
    if (isOfPage) return [[field.name, { type: inner, depth, around: new Set([...around, inner.name]), leaves: [], inside: [] }]];
    if (depth === 0 || isByPages(field)) return [];
    return [[field.name, { type: inner, depth: depth - 1, around: new Set([...around, inner.name]), leaves: [], inside: [] }]];
  }

  /** Inline fragments for the fields that only some types have. The later of two fields with one name and different types gets an alias. */
  function fragmentsOf({ type: outer, around }: Asked): [string, Asked][] {
    if (outer.possible.size > mostFragments) return [];
    const shapes = new Map([...outer.fields.values()].map((field) => [field.name, field.type]));
    return [...outer.possible].flatMap((possible): [string, Asked][] => {
      const inner = types.get(possible);
      if (inner?.kind !== 'object') return [];
      const own = [...inner.fields.values()].filter((field) => isAskable(field) && hasNoFields(field) && !outer.fields.has(field.name));
      const leaves = taken(
        own.toSorted((a, b) => rankOf(a.name) - rankOf(b.name)),
        mostInside,
      ).map((field) => {
        const shape = shapes.get(field.name) ?? field.type;
        shapes.set(field.name, shape);
        return shape === field.type ? field.name : `${field.name}_${possible}: ${field.name}`;
      });
      return [[`... on ${possible}`, { type: inner, depth: 0, around, leaves, inside: [] }]];
    });
  }
}

/** Fields such as tokens and passwords are only returned if a caller selects them. */
function isAskable({ name, deprecated, args }: SchemaField): boolean {
  return isName(name) && deprecated === null && !args.some(isRequired) && (name === 'key' || !looksSecret(name));
}

/** Services require a page size for these lists, even if the schema does not. */
function isByPages({ args }: SchemaField): boolean {
  return args.some(({ name }) => name === 'first' || name === 'last');
}

/** A page of a list (a Relay connection), or one of its edges. */
function isPage({ fields }: SchemaType): boolean {
  return (fields.has('pageInfo') && (fields.has('nodes') || fields.has('edges'))) || (fields.has('node') && fields.has('cursor'));
}

const firstFields = ['id', 'name', 'title', 'number', 'login', 'key', 'slug', 'code', 'type', 'kind', 'state', 'status', 'url', 'email'];

/** Fields that identify an object come first; the others keep the order of the schema. */
function rankOf(name: string): number {
  const rank = firstFields.indexOf(name);
  return rank < 0 ? firstFields.length : rank;
}

/** Undefined if there is nothing to request. */
function printed({ leaves, inside }: Asked): string | undefined {
  const parts = inside.flatMap(([written, asked]) => {
    const inner = printed(asked);
    return inner === undefined ? [] : [`${written} ${inner}`];
  });
  return leaves.length + parts.length === 0 ? undefined : `{ ${[...leaves, ...parts].join(' ')} }`;
}
