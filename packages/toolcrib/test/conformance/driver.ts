/** The client that the conformance suite tests: Toolcrib, started anew for one scenario. The last argument is the scenario's server. */
import { takeTurn } from './turnstile.ts';

using _turn = await takeTurn(process.env['MCP_CONFORMANCE_SCENARIO'] ?? '');
// Loaded when it is this driver's turn: many of them wait at the same time.
const { readScenario } = await import('./scenario.ts');
const { playScenario } = await import('./play-scenario.ts');
await playScenario(readScenario(process.env, process.argv), (line) => process.stderr.write(`${line}\n`));
// The suite takes no note of how its clients end where it runs many of them; the run does, by this line.
process.stdout.write('played\n');
