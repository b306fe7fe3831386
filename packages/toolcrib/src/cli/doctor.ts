import { createEgress } from '../net/egress.ts';
import type { OptionTable } from '../model/option-table.ts';
import { align } from '../text/align.ts';
import { checkAdministrators } from './check-administrators.ts';
import { checkDevelopmentPolicies } from './check-development-policies.ts';
import { checkDatabaseFile, checkDataFolder, checkNode } from './check-machine.ts';
import { checkPrograms } from './check-programs.ts';
import { checkRunning } from './check-running.ts';
import { checkDatabase, checkIssuer, checkPort } from './check-services.ts';
import { type Check, reasonOf } from './check.ts';
import { checkEgress } from './check-egress.ts';
import { jsonOption } from './client-options.ts';
import { defineCommand } from './command.ts';
import { givenByFiles } from './given-by-files.ts';
import { placeFrom, refuseOpenDevelopment } from './serve-config.ts';
import { configOption, placeOptions } from './serve-options.ts';
import { paint, print, printJson } from './terminal.ts';

const loginOptions = {
  login: { value: 'url', help: 'Checks the login of MCP clients at this address, step by step' },
  client: { value: 'name', help: 'Whose login: any, claude-code, claude, chatgpt, vscode, cursor, codex or gemini', default: 'any' },
  'client-id': { value: 'id', help: 'The client id that the client was given, or the address of its metadata document' },
} as const satisfies OptionTable;

export const doctor = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: { ...placeOptions, ...configOption, ...loginOptions, ...jsonOption },
  notes: [
    'Pass the options that you will pass to `toolcrib serve`. Changes nothing. Exits with 1 only if something required is broken.',
    'With --login it checks that address instead, of any MCP server: it does what the client does, up to the page where a person signs in.',
  ],
  examples: [
    'toolcrib doctor',
    'toolcrib doctor --database postgres://crib@db/crib --json',
    'toolcrib doctor --login https://crib.example.org/mcp --client vscode',
  ],
  async run(asked) {
    const { given, runRules } = await givenByFiles(asked);
    const place = placeFrom(given);
    const address = given.text('login');
    if (address !== undefined) {
      const { loginDoctor } = await import('./login/login-doctor.ts');
      return loginDoctor({
        address,
        client: given.required('client'),
        clientId: given.text('client-id'),
        egress: place,
        asJson: given.on('json'),
      });
    }
    const { host, port, dataDir, databaseUrl, issuers, dockerHost } = place;
    const egress = createEgress(place);
    const found = await Promise.all([
      checkDataFolder(dataDir),
      checkPort(host, port),
      databaseUrl === undefined ? checkDatabaseFile(dataDir) : checkDatabase(databaseUrl),
      ...(issuers.length === 0 ? [checkDevelopment(host)] : issuers.map((issuer) => checkIssuer(issuer, egress))),
      checkDevelopmentPolicies(place),
      checkPrograms(dockerHost),
      checkRunning(runRules, { production: issuers.length > 0 }),
    ]);
    const checks = [checkNode(), ...found.flat(), ...checkAdministrators(place), ...checkEgress(place)];
    const well = checks.every(({ required, state }) => !required || state === 'ok');
    if (given.on('json')) printJson({ ok: well, checks });
    else print(report(checks, well));
    return well ? 0 : 1;
  },
});

async function checkDevelopment(host: string): Promise<Check> {
  const check = { name: 'issuer', required: true };
  try {
    refuseOpenDevelopment({ host, production: process.env.NODE_ENV === 'production' });
    return { ...check, state: 'ok', detail: 'none is configured: development mode, with its own issuer' };
  } catch (error) {
    return { ...check, state: 'broken', detail: reasonOf(error), cure: 'name your identity provider with --issuer' };
  }
}

const colours = { ok: 'green', missing: 'yellow', broken: 'red' } as const;

function report(checks: Check[], well: boolean): string {
  const rows = checks.flatMap(({ name, state, required, detail, cure }) => {
    const row = [state, name, required ? '' : 'optional', detail];
    return cure === undefined ? [row] : [row, ['', '', '', `→ ${cure}`]];
  });
  const painter = (text: string, column: number) => {
    const colour = colours[text.trim() as keyof typeof colours];
    return column === 0 && colour !== undefined ? paint(colour, text) : text;
  };
  return [...align(rows, { paint: painter }), '', well ? 'Toolcrib can run here.' : 'Something that Toolcrib needs is broken.'].join('\n');
}
