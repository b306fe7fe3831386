import { requirements } from './requirements.ts';

/** The text of `docs/requirements.md`. */
export function requirementsPage(): string {
  const areas = Map.groupBy(requirements, ({ area }) => area);
  const sections = [...areas].map(([area, ofArea]) =>
    [`## ${area}`, '| id | what must hold | state |', '|---|---|---|', ...ofArea.map(row), ''].join('\n'),
  );
  return `${introduction}\n${sections.join('\n')}`;
}

const introduction = `# Requirements
The code and the tests name what they are there for by an id in brackets, such as \`[POL-1]\`. This page says what each id means. A test whose name
begins with an id verifies that requirement; a built requirement without such a test fails the suite. Planned ones are not built, or not completely.

To find everything about one: \`git grep POL-1\`. This page is made from \`packages/toolcrib/test/requirements.ts\` by \`npm run requirements\`.
`;

function row({ id, text, built }: (typeof requirements)[number]): string {
  return `| ${id} | ${text} | ${built ? 'built' : 'planned'} |`;
}
