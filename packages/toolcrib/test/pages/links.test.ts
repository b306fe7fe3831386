import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { pages, workspace } from './read-page.ts';

const decisions = readdirSync(join(workspace, 'docs/decisions')).map((name) => `docs/decisions/${name}`);
const linkingPages = [...pages, ...decisions, 'CHANGELOG.md'];

const proseOf = (page: string) => readFileSync(join(workspace, page), 'utf8').replaceAll(/^```.*?^```/gms, '');

/** As GitHub names the headings of a page: small letters, hyphens for spaces, no other punctuation. */
function anchorsOf(page: string): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isBroken(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative(workspace, join(workspace, dirname(page), path));
  if (!existsSync(join(workspace, target))) return true;
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
}

test.each(linkingPages)('every link in %s leads to a file and a heading that exist', (page) => {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !/^https?:/.test(link) && isBroken(page, link))).toEqual([]);
});

test('the index of the documentation has every page in docs/', () => {
  const listed = new Set([...proseOf('docs/README.md').matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => `docs/${link}`));
  expect(pages.filter((page) => /^docs\/(?!README)/.test(page) && !listed.has(page))).toEqual([]);
});
