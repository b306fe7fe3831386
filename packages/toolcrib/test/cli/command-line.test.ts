import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { version } from '../../src/version.ts';
import { runToolcrib } from './run-toolcrib.ts';

describe('help', () => {
  test.each([[[]], [['--help']], [['-h']], [['help']]])('[CLI-1] toolcrib %j lists every command', async (args: string[]) => {
    const { code, stdout, stderr } = await runToolcrib(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name, summary } of commands) expect(stdout).toContain(`${name.padEnd(14)}  ${summary}`);
  });

  test.each(commands)('[CLI-1] toolcrib $name --help lists each of its options, variables and defaults', async ({ name, load }) => {
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

  test('[CLI-1] no colours are printed where the output is not a terminal', async () => {
    const { stdout } = await runToolcrib(['serve', '--help']);
    expect(stdout).not.toContain('\u001b');
  });

  test.each(['--version', '-v'])('[CLI-1] %s prints the version', async (flag) => {
    expect(await runToolcrib([flag])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

const serve = 'See `toolcrib serve --help`.';
const wrong: [args: string[], message: string][] = [
  [['srve'], 'There is no command "srve": did you mean `toolcrib serve`? See `toolcrib --help`.'],
  [['docter'], 'There is no command "docter": did you mean `toolcrib doctor`? See `toolcrib --help`.'],
  [['xyzzy'], 'There is no command "xyzzy". See `toolcrib --help`.'],
  [['policy'], 'policy what? There is `toolcrib policy explain`, `toolcrib policy test`. See `toolcrib --help`.'],
  [
    ['policy', 'explian'],
    'There is no `policy explian`: there is `toolcrib policy explain`, `toolcrib policy test`. See `toolcrib --help`.',
  ],
  [['policy', 'explain', '--who'], '--who may use what? Name it with --tool. See `toolcrib policy explain --help`.'],
  [
    ['policy', 'explain', '--who', '--tool', 'a:b', '--as', 'bob'],
    '--who is about everybody: leave out --token, --as and --claims. See `toolcrib policy explain --help`.',
  ],
  [
    ['policy', 'explain', '--token', '@/nowhere/token'],
    'The token cannot be read from /nowhere/token (ENOENT). See `toolcrib policy explain --help`.',
  ],
  [['serve', '--config', '/nowhere/crib.yaml'], `The configuration file /nowhere/crib.yaml is not there. ${serve}`],
  [['--port', '1'], 'The command comes first: there is no option --port before it. See `toolcrib --help`.'],
  [['serve', '--prot', '1'], `There is no option --prot: did you mean --port? ${serve}`],
  [['serve', '--principal'], `There is no option --principal: did you mean --principal-rate? ${serve}`],
  [['serve', '-x'], `There is no option -x. ${serve}`],
  [['serve', '--no-such-thing=1'], `There is no option --no-such-thing. ${serve}`],
  [['serve', '--port'], `--port needs a value (one that begins with a dash is written --port=-…). ${serve}`],
  [['serve', '--data='], `--data needs a value. ${serve}`],
  [['serve', '--allow-insecure-issuer=yes'], `--allow-insecure-issuer is a switch and takes no value. ${serve}`],
  [['serve', 'now'], `"now" is one argument too many. ${serve}`],
  [['add', 'npx', 'pkg', '--flag'], 'There is no option --flag. Options for the server go behind `--`. See `toolcrib add --help`.'],
  [
    ['add', 'npx', 'pkg', '--nmae', 'x'],
    'There is no option --nmae: did you mean --name? Options for the server go behind `--`. See `toolcrib add --help`.',
  ],
  [
    ['add', 'uvx', '--form', 'a', 'b'],
    'There is no option --form: did you mean --from? Options for the server go behind `--`. See `toolcrib add --help`.',
  ],
  [
    ['add', 'uvx', 'b', '--with', 'a'],
    '--with is an option of uvx: write it directly behind uvx. Options for the server go behind `--`. See `toolcrib add --help`.',
  ],
  [['call'], '<tool> is missing. See `toolcrib call --help`.'],
  [['token'], '<user> is missing. See `toolcrib token --help`.'],
  [['tools', '--token', 'a', '--as', 'bob'], 'Give --token or --as, not both. See `toolcrib tools --help`.'],
  [['tools', '--url', 'ftp://x'], '--url must be an address such as http://127.0.0.1:7300. See `toolcrib tools --help`.'],
  [['tools', '--token', 'a b'], 'The token contains spaces or letters that no token has. See `toolcrib tools --help`.'],
  [
    ['call', 'a:b', '[1]'],
    'The arguments must be a JSON object such as {"city": "Bonn"}; single values go as --arg city=Bonn. See `toolcrib call --help`.',
  ],
  [['call', 'a:b', '--arg', 'x'], '--arg must be name=value, not "x". See `toolcrib call --help`.'],
  [['call', 'a:b', '--timeout', '0'], '--timeout must be a whole number from 1 to 3600000, not "0". See `toolcrib call --help`.'],
  [['policy', 'explain', '--claims', '[]'], '--claims must be a JSON object such as {"sub": "u-1"}. See `toolcrib policy explain --help`.'],
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

test('[CLI-1] a variable at fault is named, not the option that was not given', async () => {
  const { code, stderr } = await runToolcrib(['tools'], { env: { TOOLCRIB_URL: 'nonsense' } });
  expect(code).toBe(2);
  expect(stderr).toContain('TOOLCRIB_URL must be an address');
});

test.each([[['tools']], [['call', 'a:b']], [['token', 'alice']], [['policy', 'explain']]])(
  '[CLI-1] toolcrib %j says how to start a server where none answers',
  async (args: string[]) => {
    // Port 9 is reserved for discarding, and no machine of ours does that.
    const { code, stdout, stderr } = await runToolcrib(args, { env: { TOOLCRIB_URL: 'http://127.0.0.1:9' } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('No Toolcrib answers at http://127.0.0.1:9 (ECONNREFUSED): start one with `toolcrib serve`');
    expect(stderr).not.toContain('    at ');
  },
);
