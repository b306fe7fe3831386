import type { Logger } from 'pino';
import type { Applied } from '../administration/configuration/plan.ts';
import { anyServerSchema, parseConfigFile } from '../administration/configuration/parse-config-file.ts';
import { readConfigText } from '../administration/configuration/read-config-text.ts';
import { watchFile } from '../administration/configuration/watch-file.ts';
import type { Crib } from '../crib.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import { CribError } from '../model/crib-error.ts';
import { ownIssuer, type Principal } from '../model/principal.ts';
import type { Metrics } from '../http/metrics.ts';

/** The actor that the record names for changes from the file: a person who may write it may start the server, too. */
const fileKeeper: Principal = {
  issuer: ownIssuer,
  subject: 'system',
  name: null,
  key: 'system',
  client: null,
  claims: {},
  expiresAt: Number.POSITIVE_INFINITY,
  token: null,
};

interface FollowInput {
  path: string;
  crib: Crib;
  metrics: Metrics;
  logger: Logger;
}

/**
 * [SRC-6] Applies the file now and whenever it changes. A broken file prevents the start; a file that breaks later is reported, and the
 * configuration stays as it was.
 */
export async function followConfigFile({ path, crib, metrics, logger }: FollowInput): Promise<AsyncDisposable> {
  const parse = (text: string) => parseConfigFile(text, { name: path, server: anyServerSchema.default({}) });
  const seen = await readConfigText(path);
  const first = parse(seen);
  const settings = canonicalJson(first.server);
  await apply(first.wished);

  async function apply(wished: typeof first.wished): Promise<void> {
    const applied = await crib.configuration.apply(fileKeeper, wished);
    report(applied);
    metrics.configApplied(applied.changes.every(({ outcome }) => outcome === 'done'));
  }

  function report({ changes, tests }: Applied): void {
    for (const { kind, id, action, outcome, error } of changes) {
      const about = { file: path, action, kind, id };
      if (outcome === 'done') logger.info(about, 'configuration applied');
      else
        logger.error({ ...about, reason: error?.message }, outcome === 'failed' ? 'configuration not applied' : 'configuration not tried');
    }
    const unknown = tests.filter(({ outcome }) => outcome === 'unknown').map(({ name }) => name);
    if (unknown.length > 0) logger.info({ file: path, tests: unknown }, 'tests wait for tools that are not known yet');
  }

  /** Reports the error; the configuration stays as it was. */
  function stays(error: unknown): void {
    metrics.configApplied(false);
    const reason = error instanceof CribError ? error.message : String(error);
    logger.error({ file: path, reason }, 'the configuration file was not applied: everything stays as it was');
  }

  async function onText(text: string): Promise<void> {
    try {
      const { server, wished } = parse(text);
      if (canonicalJson(server) !== settings)
        logger.warn({ file: path }, 'the section server of the file has changed: that needs a restart');
      await apply(wished);
    } catch (error) {
      stays(error);
    }
  }

  return watchFile({ path, read: readConfigText, seen, onText, onUnreadable: stays });
}
