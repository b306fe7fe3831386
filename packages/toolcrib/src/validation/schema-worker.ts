import { parentPort } from 'node:worker_threads';
import type { ValidateFunction } from 'ajv';
import type { JsonObject, JsonSchema } from '../model/json.ts';
import type { WorkerMessage } from '../threads/worker-seat.ts';
import { argumentFault } from './argument-fault.ts';
import { createSchemaCompiler } from './schema-compiler.ts';
import type { SchemaWork, SchemaOutcome } from './schema-threads.ts';

/** Compiled schemas are large. */
const mostCompiled = 50;

let compile = createSchemaCompiler();
const compiled = new Map<string, ValidateFunction>();

/** The program of a worker thread: compiles a schema, reports that, and checks arguments against it. The pool ends it on a timeout. */
function perform({ hash, schema, args }: SchemaWork): SchemaOutcome {
  let validate: ValidateFunction;
  try {
    validate = compiled.get(hash) ?? compile(JSON.parse(schema) as JsonSchema);
  } catch (error) {
    return { unusable: error instanceof Error ? error.message : String(error) };
  }
  if (compiled.size >= mostCompiled && !compiled.has(hash)) {
    compiled.clear();
    compile = createSchemaCompiler();
  }
  compiled.set(hash, validate);
  send('anew');
  return { fault: argumentFault(validate, JSON.parse(args) as JsonObject) };
}

function send(message: WorkerMessage<SchemaOutcome>): void {
  parentPort?.postMessage(message, []);
}

parentPort?.on('message', (work: SchemaWork) => send({ outcome: perform(work) }));
// Warms up, so that loading does not count against the time limit of the first schema.
compile({});
send('ready');
