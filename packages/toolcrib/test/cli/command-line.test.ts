import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { commandGroup } from '../../src/cli/find-command.ts';
import { commandHelp, groupHelp, overview } from '../../src/cli/help.ts';
import { version } from '../../src/version.ts';
import { runToolcrib } from './run-toolcrib.ts';

describe('toolcrib help', () => {
  test.each([[[]], [['--help']], [['-h']], [['help']]])('[CLI-1] lists every command for toolcrib %j', async (args: string[]) => {
    const { code, stdout, stderr } = await runToolcrib(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name, summary } of commands) expect(stdout).toContain(`${name.padEnd(14)}  ${summary}`);
  });

  test.each(commands)('[CLI-1] lists the options, variables and defaults of toolcrib $name', async ({ name, load }) => {
    const { code, stdout, stderr } = await runToolcrib([...name.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const flat = stdout.replaceAll(/\s+/g, ' ');
    const { options, operands, examples } = await load();
    expect(flat).toContain(['toolcrib', name, operands, '[options]'].filter(Boolean).join(' '));
    for (const [option, spec] of Object.entries(options)) {
      expect(flat).toContain(`--${option}${spec.value === undefined ? '' : ` <${spec.value}>`} `);
      expect(flat).toContain(spec.help);
      expect(flat).toContain(spec.env ?? '');
      expect(flat).toContain(spec.default === undefined ? '' : `default ${spec.default})`);
    }
    for (const example of examples) expect(stdout).toContain(example);
    // An example is pasted, so it stays in one line.
    const long = stdout.split('\n').filter((line) => line.length > 120 && !examples.includes(line.trim()));
    expect(long).toEqual([]);
  });

  test.each([
    [['secrets', '--help'], 'secrets rekey'],
    [['secrets', '-h'], 'secrets rekey'],
    [['help', 'secrets'], 'secrets rekey'],
    [['help', 'policy', 'explain'], '--claims <json>'],
    [['help', 'call'], 'toolcrib call <tool> [json] [options]'],
    [['help', 'sources', 'show'], 'toolcrib sources [action] [source] [options]'],
    [['help', 'call', '--json'], 'toolcrib call <tool> [json] [options]'],
  ])('[CLI-1] prints the help of one command for toolcrib %j', async (args, text) => {
    const { code, stdout, stderr } = await runToolcrib(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(text);
    expect(stdout).not.toContain('Starts the server');
  });

  test('[CLI-1] fits a terminal of 80 columns, and its examples can be pasted whole', async () => {
    const { columns, isTTY } = process.stdout;
    Object.assign(process.stdout, { columns: 80, isTTY: true });
    try {
      const helps = [overview(version), groupHelp('secrets', commandGroup('secrets'))];
      for (const entry of commands) {
        const command = await entry.load();
        const text = commandHelp(entry, command);
        helps.push(text);
        const pasted = text.replaceAll(/ \\\n +/g, ' ');
        for (const example of command.examples) expect(pasted).toContain(example);
      }
      const long = helps.flatMap((text) => stripVTControlCharacters(text).split('\n')).filter((line) => line.length > 80);
      expect(long).toEqual([]);
    } finally {
      Object.assign(process.stdout, { columns, isTTY });
    }
  });

  test('[CLI-1] prints no colours when the output is not a terminal', async () => {
    const { stdout } = await runToolcrib(['serve', '--help']);
    expect(stdout).not.toContain('\u001b');
  });

  test.each(['--version', '-v'])('[CLI-1] shows the version for %s', async (flag) => {
    expect(await runToolcrib([flag])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

const serve = 'See `toolcrib serve --help`.';
const wrong: [args: string[], message: string][] = [
  [['srve'], 'There is no command "srve": did you mean `toolcrib serve`? See `toolcrib --help`.'],
  [['docter'], 'There is no command "docter": did you mean `toolcrib doctor`? See `toolcrib --help`.'],
  [['xyzzy'], 'There is no command "xyzzy". See `toolcrib --help`.'],
  [['help', 'srve'], 'There is no command "srve": did you mean `toolcrib serve`? See `toolcrib --help`.'],
  [['policy'], 'policy needs another word: `toolcrib policy explain`, `toolcrib policy test`. See `toolcrib policy --help`.'],
  [['policy', 'explian'], 'There is no `policy explian`: did you mean `toolcrib policy explain`? See `toolcrib policy --help`.'],
  [
    ['policy', 'zzz'],
    'There is no `policy zzz`: there is `toolcrib policy explain`, `toolcrib policy test`. See `toolcrib policy --help`.',
  ],
  [['policy', 'explain', '--who'], '--who needs a tool: name it with --tool. See `toolcrib policy explain --help`.'],
  [
    ['policy', 'explain', '--who', '--tool', 'a:b', '--as', 'bob'],
    '--who is about everybody: leave out --token, --as and --claims. See `toolcrib policy explain --help`.',
  ],
  [
    ['policy', 'explain', '--token', '@/nowhere/token'],
    'The token cannot be read from /nowhere/token (ENOENT). See `toolcrib policy explain --help`.',
  ],
  [['serve', '--config', '/nowhere/crib.yaml'], `The configuration file /nowhere/crib.yaml does not exist. ${serve}`],
  [['--port', '1'], 'The command must come before the option --port. See `toolcrib --help`.'],
  [['serve', '--prot', '1'], `There is no option --prot: did you mean --port? ${serve}`],
  [['serve', '--principal'], `There is no option --principal: did you mean --principal-rate? ${serve}`],
  [['serve', '-x'], `There is no option -x. ${serve}`],
  [['serve', '--no-such-thing=1'], `There is no option --no-such-thing. ${serve}`],
  [['serve', '--port'], `--port needs a value (write one that starts with a dash as --port=-…). ${serve}`],
  [['serve', '--data='], `--data needs a value. ${serve}`],
  [['serve', '--allow-insecure-issuer=yes'], `--allow-insecure-issuer is a switch and takes no value. ${serve}`],
  [['serve', 'now'], `"now" is one argument too many. ${serve}`],
  [['add', 'npx', 'pkg', '--flag'], 'There is no option --flag. Write options of the server after `--`. See `toolcrib add --help`.'],
  [
    ['add', 'npx', 'pkg', '--nmae', 'x'],
    'There is no option --nmae: did you mean --name? Write options of the server after `--`. See `toolcrib add --help`.',
  ],
  [
    ['add', 'uvx', '--form', 'a', 'b'],
    'There is no option --form: did you mean --from? Write options of the server after `--`. See `toolcrib add --help`.',
  ],
  [
    ['add', 'uvx', 'b', '--with', 'a'],
    '--with is an option of uvx: write it directly after uvx. Write options of the server after `--`. See `toolcrib add --help`.',
  ],
  [['call'], '<tool> is missing. See `toolcrib call --help`.'],
  [['token'], '<user> is missing. See `toolcrib token --help`.'],
  [['tools', '--token', 'a', '--as', 'bob'], 'Give --token or --as, not both. See `toolcrib tools --help`.'],
  [['tools', '--url', 'ftp://x'], '--url must be an address such as http://127.0.0.1:7300. See `toolcrib tools --help`.'],
  [['tools', '--token', 'a b'], 'The token contains spaces or characters that no token has. See `toolcrib tools --help`.'],
  [
    ['call', 'a:b', '[1]'],
    'The arguments must be a JSON object such as {"city": "Bonn"}; set single values with --arg city=Bonn. See `toolcrib call --help`.',
  ],
  [
    ['call', 'a:b', '{"city" "Bonn"}'],
    'The arguments are not JSON: line 1, column 9: a colon is expected, not "\\"". The arguments must be a JSON object such as {"city": "Bonn"}; set single values with --arg city=Bonn. See `toolcrib call --help`.',
  ],
  [['call', 'a:b', '--arg', 'x'], '--arg must be name=value, not "x". See `toolcrib call --help`.'],
  [['call', 'a:b', '--timeout', '0'], '--timeout must be a whole number from 1 to 3600000, not "0". See `toolcrib call --help`.'],
  [['policy', 'explain', '--claims', '[]'], '--claims must be a JSON object such as {"sub": "u-1"}. See `toolcrib policy explain --help`.'],
  [
    ['policy', 'explain', '--claims', '{sub: 1}'],
    '--claims must be a JSON object such as {"sub": "u-1"}. It is not JSON: line 1, column 2: a name in double quotes or } is expected, not "s". See `toolcrib policy explain --help`.',
  ],
  [
    ['policy', 'explain', '--as', 'bob', '--claims', '{}'],
    'Give only one of --token, --as and --claims. See `toolcrib policy explain --help`.',
  ],
  [['doctor', '--port', '70000'], '--port must be a whole number from 0 to 65535, not "70000". See `toolcrib doctor --help`.'],
];

describe('a wrong command line', () => {
  test.each(wrong)('[CLI-1] toolcrib %j is refused in one line that says what to do', async (args, message) => {
    expect(await runToolcrib(args)).toEqual({ code: 2, signal: null, stdout: '', stderr: `toolcrib: ${message}\n` });
  });
});

describe('a failure under --json', () => {
  test.each<[args: string[], code: number, error: object]>([
    [['call', '--json'], 2, { code: 'VALIDATION_ERROR', message: '<tool> is missing', help: 'toolcrib call --help' }],
    [['tols', '--json'], 2, { code: 'VALIDATION_ERROR', message: expect.stringContaining('did you mean'), help: 'toolcrib --help' }],
    [['serve', '--json'], 2, { code: 'VALIDATION_ERROR', message: 'There is no option --json', help: 'toolcrib serve --help' }],
    [['call', 'a:b', '--json'], 1, { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('No Toolcrib answers') }],
    [
      ['tools', '--timeout', '0', '--json'],
      2,
      { code: 'VALIDATION_ERROR', message: 'There is no option --timeout', help: 'toolcrib tools --help' },
    ],
    [
      ['import', '/nowhere.json', '--json'],
      2,
      { code: 'VALIDATION_ERROR', message: 'There is no file /nowhere.json', help: 'toolcrib import --help' },
    ],
  ])('[CLI-1] toolcrib %j ends with %i and the error as JSON', async (args, code, error) => {
    const ended = await runToolcrib(args, { env: { TOOLCRIB_URL: 'http://127.0.0.1:9' } });
    expect(ended.code).toBe(code);
    expect(ended.stderr).not.toContain('toolcrib:');
    expect(JSON.parse(ended.stdout)).toEqual({ error });
  });

  test('[CLI-1] leaves everything behind `--` to the server', async () => {
    const ended = await runToolcrib(['add', '--nope', '--', 'prog', '--json']);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('There is no option --nope') });
  });
});

test('[CLI-1] a wrong variable is named, not the option that was not given', async () => {
  const { code, stderr } = await runToolcrib(['tools'], { env: { TOOLCRIB_URL: 'nonsense' } });
  expect(code).toBe(2);
  expect(stderr).toContain('TOOLCRIB_URL must be an address');
});

test.each([[['tools']], [['call', 'a:b']], [['token', 'alice']], [['policy', 'explain']]])(
  '[CLI-1] toolcrib %j says how to start a server when none answers',
  async (args: string[]) => {
    // Port 9 is reserved for discarding, and no machine of ours does that.
    const { code, stdout, stderr } = await runToolcrib(args, { env: { TOOLCRIB_URL: 'http://127.0.0.1:9' } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('No Toolcrib answers at http://127.0.0.1:9 (ECONNREFUSED): start one with `toolcrib serve`');
    expect(stderr).not.toContain('    at ');
  },
);
