import { expect, test } from 'vitest';
import { claimAt, claimSegments } from '../../src/policy/claim-path.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { ClaimPath } from '../../src/model/policy.ts';

test.each<[ClaimPath, string[]]>([
  ['sub', ['sub']],
  ['realm_access.roles', ['realm_access', 'roles']],
  ['/realm_access/roles', ['realm_access', 'roles']],
  ['/https:~1~1acme.io~1role', ['https://acme.io/role']],
  ['/a~0b', ['a~b']],
  ['/a~01', ['a~1']],
  ['/', ['']],
  ['a..b', ['a', '', 'b']],
  [['https://acme.io/role'], ['https://acme.io/role']],
  [
    ['a.b', 'c/d'],
    ['a.b', 'c/d'],
  ],
  [['/a'], ['/a']],
])('[POL-2] the path %j has the segments %j', (path, segments) => {
  expect(claimSegments(path)).toEqual(segments);
});

const claims = JSON.parse(`{
  "sub": "alice", "empty": "", "zero": 0, "no": false, "nothing": null, "list": ["a", "b"], "huge": 1e400,
  "realm_access": { "roles": ["admin"] },
  "https://acme.io/role": "editor", "a.b": { "c/d": "deep" }, "a": { "b": "nested" },
  "": "nameless",
  "__proto__": { "roles": ["own"] }, "child": { "__proto__": "own" }
}`) as JsonObject;

test.each<[ClaimPath, Json | undefined]>([
  ['sub', 'alice'],
  ['empty', ''],
  ['zero', 0],
  ['no', false],
  ['list', ['a', 'b']],
  ['realm_access.roles', ['admin']],
  ['/realm_access/roles', ['admin']],
  [['realm_access', 'roles'], ['admin']],
  [['https://acme.io/role'], 'editor'],
  ['/https:~1~1acme.io~1role', 'editor'],
  [['a.b', 'c/d'], 'deep'],
  ['/a.b/c~1d', 'deep'],
  ['a.b', 'nested'],
  ['/', 'nameless'],
  // A value that the token itself has under such a name is a claim; an inherited one is not.
  ['__proto__.roles', ['own']],
  ['child.__proto__', 'own'],
])('[POL-2] the claim at %j is %j', (path, value) => {
  expect(claimAt(claims, claimSegments(path))).toEqual(value);
});

test.each<[string, ClaimPath]>([
  ['there is no such name', 'email'],
  ['null counts as missing', 'nothing'],
  ['a path through null', 'nothing.deeper'],
  ['a path through text', 'sub.length'],
  ['a path into text by position', 'sub.0'],
  ['a path through a number', 'zero.toFixed'],
  ['a position in a list', 'list.0'],
  ['the length of a list', 'list.length'],
  ['a dotted path does not reach a name with dots', 'https://acme.io/role'],
  ['a pointer with unescaped slashes', '/https://acme.io/role'],
  ['an inherited name', 'constructor'],
  ['an inherited name, deeper', 'realm_access.constructor.name'],
  ['an inherited method', 'toString'],
  ['the prototype of an object that has no such claim', 'realm_access.__proto__'],
  ['a number that JSON can write but not keep', 'huge'],
  ['a path that is too long', 'realm_access.roles.admin'],
])('[POL-2] a claim is missing if %s', (_why, path) => {
  expect(claimAt(claims, claimSegments(path))).toBeUndefined();
});
