import { afterAll, describe, expect, test } from 'vitest';
import type { NamedValue } from '../../src/model/source-definition.ts';
import { createFillIn, type FillInScope } from '../../src/secrets/fill-in.ts';
import { openSecrets } from './open-secrets.ts';

const opened = new AsyncDisposableStack();
afterAll(() => opened.disposeAsync());

/** With these secrets stored; `known` is what the redactor was told. */
async function scopeOf(stored: Record<string, string>, more: Partial<FillInScope> = {}) {
  const known: string[] = [];
  const secrets = opened.use(await openSecrets(stored));
  const redactor = { add: (value: string) => known.push(value) };
  const scope = { secrets, declared: {}, allowedNames: new Set<string>(), environment: {}, redactor, ...more };
  return { ...createFillIn(scope), known };
}

const text = (value: string): NamedValue => ({ value });
const refusal = (message: RegExp) => ({ code: 'VALIDATION_ERROR', field: 'args.0', message: expect.stringMatching(message) });

describe('[ENV-2] ${VAR}', () => {
  test.each([
    ['nothing to do', 'nothing to do'],
    ['', ''],
    ['${A}', 'value-a'],
    ['x${A}y${A}z', 'xvalue-ayvalue-az'],
    ['${A}${git-hub.token}', 'value-asecret-t'],
    ['$${A}', '${A}'],
    ['$$${A}', '$${A}'],
    ['$A $ {A} $', '$A $ {A} $'],
    ['{"a": "${A}"}', '{"a": "value-a"}'],
  ])('fills in %j', async (template, expected) => {
    const fillIn = await scopeOf({ 'git-hub.token': 'secret-t' }, { declared: { A: text('value-a') } });
    expect(await fillIn.text(template, 'args.0')).toBe(expected);
  });

  test.each([['${'], ['${}'], ['${A'], ['${A:-x}'], ['${a b}'], ['${../x}'], ['${${A}}']])(
    'refuses %j, which is not a variable',
    async (template) => {
      const fillIn = await scopeOf({}, { declared: { A: text('A') } });
      await expect(fillIn.text(template, 'args.0')).rejects.toMatchObject(refusal(/written \$\{NAME\}/));
    },
  );

  test('reads declared variables first, then secrets, then the allowed environment', async () => {
    const environment = { A: 'environment', B: 'environment', C: 'environment', D: 'environment' };
    const scope = { declared: { A: text('declared') }, allowedNames: new Set(['A', 'B', 'C']), environment };
    const fillIn = await scopeOf({ A: 'secret', B: 'secret' }, scope);
    expect(await fillIn.text('${A} ${B} ${C}', 'args.0')).toBe('declared secret environment');
    await expect(fillIn.text('${D}', 'args.0')).rejects.toMatchObject(refusal(/no variable or secret D/));
  });

  test('never reads our own settings, whatever is allowed', async () => {
    const environment = { TOOLCRIB_KEYS: 'keys', Toolcrib_Token: 'token' };
    const fillIn = await scopeOf({}, { allowedNames: new Set(Object.keys(environment)), environment });
    for (const name of Object.keys(environment)) await expect(fillIn.text(`\${${name}}`, 'args.0')).rejects.toMatchObject(refusal(/./));
  });

  test.each(['constructor', '__proto__', 'toString'])('does not take %s for a variable', async (name) => {
    const fillIn = await scopeOf({}, { allowedNames: new Set([name]) });
    await expect(fillIn.text(`\${${name}}`, 'args.0')).rejects.toMatchObject(refusal(/no variable or secret/));
  });

  test('means the outer value if a variable names itself', async () => {
    const fillIn = await scopeOf({ TOKEN: 'hunter2' }, { declared: { TOKEN: text('Bearer ${TOKEN}') } });
    expect(await fillIn.variable('TOKEN', 'args.0')).toBe('Bearer hunter2');
  });

  test('fills in variables that name others, and refuses a circle', async () => {
    const declared = { A: text('a${B}'), B: text('b${C}'), C: text('c'), X: text('${Y}'), Y: text('${X}') };
    const fillIn = await scopeOf({}, { declared });
    expect(await fillIn.variable('A', 'args.0')).toBe('abc');
    await expect(fillIn.variable('X', 'args.0')).rejects.toMatchObject(refusal(/in a circle: X, Y, X/));
    await expect(fillIn.text('${X}', 'args.0')).rejects.toMatchObject(refusal(/in a circle/));
  });

  test('does not fill in what was filled in', async () => {
    const fillIn = await scopeOf({ evil: '${other} $${', other: 'hunter2' });
    expect(await fillIn.text('${evil}', 'args.0')).toBe('${other} $${');
  });

  test('cannot grow without bound through variables that double each other, nor loop over empty ones', async () => {
    const doubling = (last: string) =>
      Object.fromEntries(
        Array.from({ length: 64 }, (_, index) => [`V${index}`, text(index === 63 ? last : `\${V${index + 1}}`.repeat(2))]),
      );
    await expect((await scopeOf({}, { declared: doubling('x') })).variable('V0', 'args.0')).rejects.toMatchObject(refusal(/longer than/));
    expect(await (await scopeOf({}, { declared: doubling('') })).variable('V0', 'args.0')).toBe('');
  });
});

describe('[ENV-1] secret_ref', () => {
  test('gives the value of the secret', async () => {
    const fillIn = await scopeOf({ token: 'hunter2' }, { declared: { A: { secret_ref: 'token' } } });
    expect(await fillIn.text('x${A}', 'args.0')).toBe('xhunter2');
    await expect(fillIn.value({ secret_ref: 'absent' }, 'args.0')).rejects.toMatchObject(refusal(/no secret absent/));
  });

  test('is refused for a secret that belongs to another source', async () => {
    const stored = { 'mcp_s1.TOKEN': 'mine', 'mcp_s2.TOKEN': 'theirs' };
    const fillIn = await scopeOf(stored, { sourceId: 's1' });
    expect(await fillIn.value({ secret_ref: 'mcp_s1.TOKEN' }, 'args.0')).toBe('mine');
    await expect(fillIn.value({ secret_ref: 'mcp_s2.TOKEN' }, 'args.0')).rejects.toMatchObject(refusal(/belongs to another source/));
    await expect(fillIn.text('${mcp_s2.TOKEN}', 'args.0')).rejects.toMatchObject(refusal(/belongs to another source/));
    await expect((await scopeOf(stored)).text('${mcp_s2.TOKEN}', 'args.0')).rejects.toMatchObject(refusal(/belongs to another source/));
  });

  test('is not needed for a variable without a value, which reads the secret made for it', async () => {
    const fillIn = await scopeOf({ 'mcp_s1.TOKEN': 'mine', TOKEN: 'shared' }, { sourceId: 's1' });
    expect(await fillIn.variable('TOKEN', 'args.0')).toBe('mine');
    expect(await fillIn.variable('OTHER', 'args.0')).toBeUndefined();
    // A variable that a manifest only declares must not read somebody else's secret.
    expect(await (await scopeOf({ TOKEN: 'shared' }, { sourceId: 's1' })).variable('TOKEN', 'args.0')).toBeUndefined();
  });
});

test('[ENV-4] every secret value that was used, and no other, is known for redaction', async () => {
  const fillIn = await scopeOf(
    { token: 'hunter2', unused: 'hunter3' },
    { declared: { A: text('plain') }, allowedNames: new Set(['E']), environment: { E: 'open' } },
  );
  await fillIn.text('${token} ${A} ${E}', 'args.0');
  expect(fillIn.known).toEqual(['hunter2']);
});
