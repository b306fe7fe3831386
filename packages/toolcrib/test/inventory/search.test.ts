import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createToolSearch, type ToolSearch } from '../../src/inventory/search/tool-search.ts';
import { createSnapshot } from '../../src/inventory/snapshot.ts';
import { wordsOf } from '../../src/inventory/search/words.ts';
import type { Tool } from '../../src/model/tool.ts';
import { sampleTool } from '../fixtures/samples.ts';

function search(tools: readonly Tool[], query: string, visible: (tool: Tool) => boolean = () => true): string[] {
  const inOrder = createSnapshot(tools).tools;
  const found = searchOf(inOrder).search(query, inOrder.filter(visible));
  return found.map(({ name }) => name);
}

/** A search that knows all of these tools, whoever sees them. */
function searchOf(tools: readonly Tool[]): ToolSearch {
  const toolSearch = createToolSearch();
  // Everything is in the index before the hidden tools are left out.
  toolSearch.search('', tools);
  return toolSearch;
}

const string = { type: 'string' };
const tools = [
  sampleTool({ namespace: 'github', name: 'create_issue', text: 'Opens a new issue in a repository', tags: ['issues'] }),
  sampleTool({ namespace: 'github', name: 'list_issues', text: 'Lists the issues of a repository, newest first', tags: ['issues'] }),
  sampleTool({ namespace: 'github', name: 'get_repository', text: 'Everything about one repository, with its open issue count' }),
  sampleTool({
    namespace: 'weather',
    name: 'getForecast',
    text: 'The weather of the next days for a place',
    schema: { type: 'object', properties: { city: { ...string, description: 'Name of the town' }, days: { type: 'integer' } } },
  }),
  sampleTool({
    namespace: 'mail',
    name: 'send_message',
    title: 'Send e-mail',
    text: 'Sends a message to one or more recipients',
    schema: {
      type: 'object',
      properties: { message: { type: 'object', properties: { subject: string, attachments: { type: 'array' } } } },
    },
  }),
  sampleTool({ namespace: 'files', name: 'read_file', text: 'Reads a text file from the project folder' }),
  sampleTool({ namespace: 'files', name: 'search_files', text: 'Finds files whose name or text has the given words in it' }),
  sampleTool({ namespace: 'karten', name: 'straßen_suche', text: 'Sucht Straßen und Plätze in Österreich, auch Caf\u00e9s' }),
  sampleTool({ namespace: 'tenki', name: 'yohou', text: '天気 予報 を 調べる' }),
];

describe('[INV-4] search', () => {
  test.each<[string, string, string[]]>([
    ['the name counts most', 'create issue', ['github:create_issue', 'github:list_issues', 'github:get_repository']],
    ['a plural finds the singular', 'files', ['files:read_file', 'files:search_files']],
    ['a rare word beats a common one', 'newest repository', ['github:list_issues', 'github:get_repository', 'github:create_issue']],
    ['camelCase is taken apart', 'forecast', ['weather:getForecast']],
    ['the name of a parameter counts', 'city', ['weather:getForecast']],
    ['so does its description', 'town', ['weather:getForecast']],
    ['so does a parameter within a parameter', 'attachment', ['mail:send_message']],
    ['so does the title', 'e-mail', ['mail:send_message']],
    ['so does the namespace', 'weather', ['weather:getForecast']],
    ['capitals do not matter', 'RECIPIENTS', ['mail:send_message']],
    ['signs between words do not matter', '  "recipients", (message)!?', ['mail:send_message']],
    ['letters beyond ASCII', 'STRASSEN österreich', ['karten:straßen_suche']],
    ['accents written in two signs', 'cafe\u0301', ['karten:straßen_suche']],
    ['other scripts', '天気', ['tenki:yohou']],
    ['words nobody uses find nothing', 'kubernetes', []],
    ['one unknown word does no harm', 'kubernetes forecast', ['weather:getForecast']],
    ['no words at all', '', []],
    ['only signs', ' -- ?! \u0000 ', []],
    ['names that every object has', '__proto__ constructor', []],
    ['accents left out', 'osterreich', ['karten:straßen_suche']],
    ['accents too many', 'fóreçast', ['weather:getForecast']],
    ['two letters swapped', 'wether forceast', ['weather:getForecast']],
    ['one letter missing, one too many', 'recipints', ['mail:send_message']],
    ['two mistakes in a long word', 'atachements', ['mail:send_message']],
    ['two mistakes in a short word are another word', 'fyly', []],
    ['another word for it', 'browse tickets', ['github:list_issues']],
    ['another word for what is done', 'locate documents', ['files:search_files']],
    ['words that mean something else together', 'look for files', ['files:search_files']],
    ['a sentence', 'I would like to raise a ticket about a defect, please', ['github:create_issue']],
    ['German', 'Datei suchen', ['files:search_files']],
    ['Spanish', 'enviar un mensaje', ['mail:send_message']],
    ['Japanese, which has no spaces', 'ファイルを検索', ['files:search_files']],
    ['nothing but small words', 'the of a', ['weather:getForecast']],
  ])('finds by relevance: %s', (_why, query, expected) => {
    expect(search(tools, query).slice(0, Math.max(expected.length, 1))).toEqual(expected);
  });

  test('orders equally good tools by name', () => {
    const twins = ['c', 'a', 'b'].map((namespace) => sampleTool({ namespace, name: 'ping' }));
    expect(search(twins, 'ping')).toEqual(['a:ping', 'b:ping', 'c:ping']);
  });

  test('ignores repeated words in the query', () => {
    expect(search(tools, 'issue issue issue repository')).toEqual(search(tools, 'issue repository'));
  });

  test('never shows what the caller may not see', () => {
    const visible = (tool: Tool) => tool.namespace !== 'github';
    expect(search(tools, 'create issue repository', visible)).toEqual([]);
    expect(search(tools, 'issue recipients', visible)).toEqual(['mail:send_message']);
  });

  test('gives the same results and order, whatever other tools the caller may not see', () => {
    const word = fc.constantFrom('issue', 'file', 'read', 'list', 'forecast', 'mail', 'text');
    const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
    // Words that are corrected by what is there, related to it, or translated.
    const asked = fc.oneof(word, fc.constantFrom('forcast', 'foreacst', 'ticket', 'document', 'datei', 'look', 'for'));
    const query = fc.array(asked, { maxLength: 6 }).map((words) => words.join(' '));
    const toolsIn = (prefix: string) =>
      fc
        .array(fc.record({ name: fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join('_')), text }), { maxLength: 8 })
        .map((list) => list.map((tool, index) => sampleTool({ namespace: `${prefix}${index}`, ...tool })));
    fc.assert(
      fc.property(toolsIn('m'), toolsIn('a'), toolsIn('z'), query, (mine, hiddenBefore, hiddenAfter, query) => {
        const all = [...hiddenBefore, ...mine, ...hiddenAfter];
        expect(search(all, query, (tool) => tool.namespace.startsWith('m'))).toEqual(search(mine, query));
      }),
      { numRuns: 500 },
    );
  });
});

test('[INV-4] words of plain text are the same beside others, which are taken apart by the general rules', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 's', 'e', 'i', 'x', 'c', 'h', 'Z', 'Y', '7', '_', '-', ' ', '.', '\n', "'", '\0'),
    maxLength: 30,
  });
  fc.assert(
    fc.property(text, (plain) => {
      expect([...wordsOf(plain), 'fur']).toEqual(wordsOf(`${plain} für`));
    }),
  );
});

describe('[INV-4] a search while tools come and go', () => {
  test('finds the same as one that never knew other tools, after thousands have gone', () => {
    const word = (index: number) => `word${index % 97}`;
    const made = (index: number, round: number) =>
      sampleTool({ namespace: 'n', name: `t_${index}_${word(index)}`, text: `${word(index * 7 + round)} ${word(round)} letter` });
    const toolSearch = createToolSearch();
    let current: Tool[] = [];
    for (let round = 0; round < 8; round++) {
      const next = Array.from({ length: 600 }, (_, index) => (index % 3 === 0 && current[index]) || made(index, round));
      const before = new Set(current);
      const after = new Set(next);
      toolSearch.search('', next);
      toolSearch.change({
        removed: new Set(current.filter((tool) => !after.has(tool))),
        added: new Set(next.filter((tool) => !before.has(tool))),
      });
      current = next;
      const visible = createSnapshot(current.filter((_, index) => index % 2 === 0)).tools;
      for (const query of ['word5 letter', 'word13', 'lettre word90'])
        expect(toolSearch.search(query, visible).map(({ name }) => name)).toEqual(
          createToolSearch()
            .search(query, visible)
            .map(({ name }) => name),
        );
    }
  });

  test('a change is followed without anybody searching', async () => {
    const toolSearch = createToolSearch();
    const [first, second] = tools as [Tool, Tool];
    toolSearch.change({ removed: new Set(), added: new Set([first, second]) });
    toolSearch.change({ removed: new Set([second]), added: new Set() });
    await toolSearch.settled();
    expect(toolSearch.indexed).toBe(1);
  });

  const namesFor = (toolSearch: ToolSearch, query: string, current: readonly Tool[]) =>
    toolSearch.search(query, current).map(({ name }) => name);

  test('finds a changed tool by its new words and no longer by its old ones', () => {
    const toolSearch = createToolSearch();
    const before = sampleTool({ namespace: 'mail', name: 'send', text: 'Delivers a letter' });
    const other = sampleTool({ namespace: 'files', name: 'read', text: 'Opens a cabinet' });
    expect(namesFor(toolSearch, 'letter', [before, other])).toEqual(['mail:send']);
    const after = sampleTool({ namespace: 'mail', name: 'send', text: 'Delivers a parcel' });
    expect(namesFor(toolSearch, 'parcel', [after, other])).toEqual(['mail:send']);
    expect(namesFor(toolSearch, 'letter', [after, other])).toEqual([]);
    expect(namesFor(toolSearch, 'cabinet', [after, other])).toEqual(['files:read']);
    expect(namesFor(toolSearch, 'cabinet', [after])).toEqual([]);
  });

  test('answers the longest possible request of unknown words', () => {
    const nonsense = Array.from({ length: 100 }, (_, index) => `zzqqxx${index}`).join(' ');
    expect(namesFor(createToolSearch(), `${nonsense} forecast`, tools)).toEqual([]);
    expect(namesFor(createToolSearch(), `forecast ${nonsense}`, tools)).toEqual(['weather:getForecast']);
  });
});

test.each([
  ['getUserByID', ['get', 'user', 'by', 'id']],
  ['snake_case-and.dots', ['snake', 'case', 'and', 'dot']],
  ['HTTP2Server', ['http2', 'server']],
  ['gas as is', ['gas', 'as', 'is']],
  ['Ｆｕｌｌ ﬁle', ['full', 'file']],
  ['हिन्दी', ['हिन्दी']],
  ['naïve', ['naive']],
  ['branches, boxes, classes, policies and status', ['branch', 'box', 'class', 'policy', 'and', 'statu']],
  ['天気を調べる', ['天気', 'を', '調べる']],
  ['', []],
])('the words of %j are %j', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});
