import type { z } from 'zod';
import type { Turn } from '../isolation/isolation.ts';
import type { CribError } from '../model/crib-error.ts';
import type { ImportSummary } from '../model/import-summary.ts';
import type { SourceDefinition } from '../model/source-definition.ts';
import type { DefinedSource, SourceRecord } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import type { OpenSource, SourceHost, SourceInfo } from './open-source.ts';
import type { CommandLine } from './registration/command-line.ts';
import type { FieldPath, NormalisedRegistration, RunNeed } from './registration/normalised-registration.ts';
import type { RegistrationContext } from './registration/registration-context.ts';
import type { SourceForm } from './registration/source-form.ts';
import type { SourcePorts, SourceValues } from './source-ports.ts';
import type { ServerLog } from './upstream/logs/server-log.ts';
import type { WireLog } from './upstream/logs/wire-logs.ts';

/** Everything the rest of the server needs to know about a kind of source. One object for each kind, listed in `registry.ts`. */
export interface SourceType<Form extends SourceForm = SourceForm, Definition extends SourceDefinition = SourceDefinition> {
  /** The value of `source_type`. */
  readonly name: string;
  /** Parses a stored definition. The definition of a source that comes with Toolcrib itself is null. */
  readonly definition: z.ZodType<Definition | null>;
  /** How a source of this kind is registered; null if it comes with Toolcrib itself. */
  readonly registration: SourceRegistration<Form, Definition> | null;
  /** The kind's part of the command line; null if its sources are not added by hand. */
  readonly commandLine: CommandLine | null;
  /** Kinds whose tools it uses: when those tools change, its own are discovered again. */
  readonly boundTo: readonly string[];
  /** Opens the parts that all sources of the kind share on this server. `opened` closes them again. */
  open(ports: SourcePorts, opened: AsyncDisposableStack): SourceKind<Definition> | Promise<SourceKind<Definition>>;
}

/** How registrations of a kind are read, changed and shown, with or without a running server. */
export interface SourceRegistration<Form extends SourceForm, Definition extends SourceDefinition> {
  /** The body of `POST /api/sources`: a strict object whose `source_type` is the name of the kind. */
  readonly form: z.ZodObject;
  /** The fields that a form must have, for readers of its JSON Schema. */
  readonly required: readonly string[];
  readonly description: string;
  /** The defaults of a definition. */
  readonly empty: object;
  /** Turns a registration into a definition. */
  normalise(form: Form, context: RegistrationContext): NormalisedRegistration<Definition> | Promise<NormalisedRegistration<Definition>>;
  /** [ENV-4] A registration that replaces a stored one: each `***` becomes the stored value, unless `keepSecrets` is false. */
  merge(form: Form, stored: Definition, options: { keepSecrets: boolean }): Form;
  /** [ENV-4] The definition as the API shows it: secrets as `***`. */
  show(definition: Definition): ShownSource;
  /** [ENV-4] The fields of a registration that only this kind has, without their secrets, as they are read back. */
  asGiven(form: Form, made: NormalisedRegistration<Definition>): Partial<Form>;
  /** The fields that only this kind has, for a source that was saved before registrations were stored. */
  formOf(definition: Definition): object;
  /** [SEC-2] The reason why a source needs the run permission; null if it does not. */
  runNeed(form: Form, made: NormalisedRegistration<Definition>): RunNeed | null;
  /** [SRC-6] The fields, of those that only this kind has, that contain a secret itself and not a reference to one. */
  literalSecrets(form: Form): FieldPath[];
  /** Resolves the paths of files in a form against this folder. */
  resolveFiles(form: Form, folder: string): Form;
  /** The parts of a definition that only this kind has and in which `${NAME}` is filled in. */
  referringParts(definition: Definition): unknown[];
  /** Whether stored secrets would be sent elsewhere, apart from a change of the server or its authorization servers. */
  hasMoved(before: Definition, after: Definition): boolean;
  /** Whether the source runs elsewhere, so that connections can fail. */
  isElsewhere(definition: Definition): boolean;
}

/** A definition as the API shows it. */
export type ShownSource = Pick<SourceDefinition, 'allow_insecure' | 'resilience' | 'limits' | 'tools' | 'pinning' | 'refresh_interval_ms'> &
  Record<'environment' | 'headers', object> & { credential: { type: string }; discovery_credential: object | null };

/** A kind of source on a running server. */
export interface SourceKind<Definition extends SourceDefinition = SourceDefinition> {
  /** The fields of the registration context that only this kind needs. */
  readonly registrationContext: object;
  /** [SEC-2] Refuses a definition that may not be run here. */
  checkRun(definition: Definition): void;
  /** Refuses a definition before it is saved, with checks that may need a request. */
  checkSaved(definition: Definition): Promise<void>;
  open(source: SourceRecord<Definition | null>, host: SourceHost): OpenSource;
  /** [SRC-8] Tries a source that is not saved, and keeps nothing of it. */
  preview(source: DefinedSource<Definition>, trial: Trial): Promise<Previewed>;
  /** Removes what was made for a source as a whole. Call this when nothing of the source is open. */
  release(sourceId: string): Promise<void>;
}

/** The input of a preview. */
export interface Trial {
  /** Includes secrets that were given and are not stored. */
  values: SourceValues;
  /** The text of a document that was given as text. */
  text: string | null;
  /** Its `signal` fires when the caller has gone. */
  turn: Turn;
  /** Fires when the caller has gone or the time is over. */
  over: AbortSignal;
  /** These logs are not kept. */
  log: ServerLog;
  wireLog: WireLog;
}

/** The result of a preview. */
export interface Previewed {
  tools: DiscoveredTool[];
  info: SourceInfo;
  imported: ImportSummary | null;
  /** Why the source would not run, although its tools were found. */
  error: CribError | null;
}

/** Erases the kind's own types: the registry gives every kind only its own forms and definitions. */
export function defineSourceType<Form extends SourceForm, Definition extends SourceDefinition>(
  type: SourceType<Form, Definition>,
): SourceType {
  return type;
}
