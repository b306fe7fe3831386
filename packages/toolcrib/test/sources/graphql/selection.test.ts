import { describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

const selectionOf = (types: string, limits?: { depth: number; fields: number }) =>
  compiled(`type Query { it: T } ${types}`, limits).named('it').plan.selection;

describe('[GQL-2] the default selection', () => {
  test('a scalar has nothing to choose from', () => {
    expect(compiled('type Query { n: Int! e: [E] } enum E { A }').tools.map(({ plan }) => [plan.selection, plan.type])).toEqual([
      ['', null],
      ['', null],
    ]);
  });

  test('scalars come first, the most telling ones before the rest, then objects up to the depth', () => {
    const types = 'type T { a: A zeta: Int name: String id: ID } type A { b: B x: Int } type B { c: C y: Int } type C { z: Int }';
    expect(selectionOf(types)).toBe('{ id name zeta a { x b { y } } }');
    expect(selectionOf(types, { depth: 0, fields: 50 })).toBe('{ id name zeta }');
    expect(selectionOf(types, { depth: 3, fields: 50 })).toBe('{ id name zeta a { x b { y c { z } } } }');
  });

  test('a budget is spent level by level', () => {
    const types = 'type T { a: A b: A x1: Int x2: Int x3: Int x4: Int x5: Int } type A { y1: Int y2: Int }';
    expect(selectionOf(types, { depth: 2, fields: 6 })).toBe('{ x1 x2 x3 x4 a { y1 y2 } }');
  });

  test('fields that need arguments, deprecated ones, secrets and lists by pages are left out', () => {
    const types = `type T { id: ID size(unit: String): Int need(x: Int!): Int old: Int @deprecated accessToken: String
      items(first: Int): Items all: [A!] } type Items { nodes: [A] pageInfo: P } type A { id: ID } type P { more: Boolean }`;
    expect(selectionOf(types)).toBe('{ id size all { id } }');
  });

  test('circles are cut', () => {
    expect(selectionOf('type T { id: ID parent: T owner: U } type U { id: ID things: [T] }', { depth: 6, fields: 50 })).toBe(
      '{ id owner { id } }',
    );
  });

  test('a page of a list is asked for what is on it, once', () => {
    const types = `type T { edges: [E] nodes: [A] pageInfo: P totalCount: Int } type E { cursor: String node: A } type A { id: ID b: B }
      type B { id: ID c: C } type C { id: ID } type P { endCursor: String }`;
    expect(selectionOf(types, { depth: 1, fields: 50 })).toBe('{ totalCount nodes { id b { id } } pageInfo { endCursor } }');
    const withEdges = 'type T { edges: [E] pageInfo: P } type E { cursor: String node: A } type A { id: ID } type P { endCursor: String }';
    expect(selectionOf(withEdges, { depth: 0, fields: 50 })).toBe('{ edges { cursor node { id } } pageInfo { endCursor } }');
  });

  test('of a union each type is asked for its own, and clashing names are told apart', () => {
    const types = 'union T = A | B type A { id: ID! size: Int } type B { id: ID! size: String }';
    expect(selectionOf(types)).toBe('{ __typename ... on A { id size } ... on B { id size_B: size } }');
  });

  test('an interface of many types is asked for what all of them have', () => {
    const many = Array.from({ length: 12 }, (_, index) => `type A${index} implements T { id: ID x: Int }`).join(' ');
    expect(selectionOf(`interface T { id: ID } ${many}`)).toBe('{ __typename id }');
    expect(selectionOf('interface T { id: ID } type A implements T { id: ID x: Int }')).toBe('{ __typename id ... on A { x } }');
  });

  test('where nothing can be asked for, the name of the type is', () => {
    expect(selectionOf('type T { need(x: Int!): Int }')).toBe('{ __typename }');
  });
});
