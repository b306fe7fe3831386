import { z } from 'zod';
import { abortable } from '../../../resilience/abortable.ts';
import type { ContainerSettings } from '../../../model/container.ts';
import { CribError } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { isRefusal } from '../../../net/docker/engine-failure.ts';
import type { ServerLog } from '../../upstream/logs/server-log.ts';
import { explainPullFailure } from './explain-pull-failure.ts';
import { createPullProgress, describeProgress, type PullProgress } from './pull-progress.ts';

interface WantedImage {
  sourceId: string;
  image: string;
  pull: ContainerSettings['pull'];
  log: Pick<ServerLog, 'append'>;
  signal: AbortSignal;
}

/** [SRC-2] [SRC-3] The images that servers run in. Missing ones are pulled, once for all who wait. */
export interface Images {
  /** Resolves when the image is here and as new as the source wants it. */
  ensure(wanted: WantedImage): Promise<void>;
  /** The image that a source waits for, for people: `pulling image …, 12 of 40 MB`; undefined where it waits for none. */
  pullingOf(sourceId: string): string | undefined;
}

interface Pull {
  done: Promise<void>;
  progress: PullProgress;
}

interface ImagesInput {
  engine: DockerEngine;
  /** Our credentials for the registry of an image. */
  authOf(image: string): Promise<string | undefined>;
  longestMs?: number;
  /** How long a pull may make no progress. */
  longestSilenceMs?: number;
}

export function createImages({ engine, authOf, longestMs = 3_600_000, longestSilenceMs = 120_000 }: ImagesInput): Images {
  const pulls = new Map<string, Pull>();
  const waiting = new Map<string, string>();

  async function isHere(image: string): Promise<boolean> {
    try {
      await engine.request({ method: 'GET', path: `/images/${encodeURIComponent(image)}/json` }, z.unknown());
      return true;
    } catch (error) {
      if (isRefusal(error, 404)) return false;
      throw error;
    }
  }

  /** A caller who goes away does not end it for the others. */
  function pullOnce(image: string): Pull {
    const known = pulls.get(image);
    if (known !== undefined) return known;
    const progress = createPullProgress();
    const done = pull(image, progress).finally(() => pulls.delete(image));
    done.catch(() => undefined);
    const begun = { done, progress };
    pulls.set(image, begun);
    return begun;
  }

  async function pull(image: string, progress: PullProgress): Promise<void> {
    const silence = new AbortController();
    const signal = AbortSignal.any([silence.signal, AbortSignal.timeout(longestMs)]);
    const timer = setTimeout(() => silence.abort(), longestSilenceMs);
    const auth = await authOf(image);
    const { name, tag } = splitImage(image);
    const path = `/images/create?fromImage=${encodeURIComponent(name)}&tag=${encodeURIComponent(tag)}`;
    const headers: Record<string, string> = auth === undefined ? {} : { 'x-registry-auth': auth };
    try {
      for await (const line of engine.lines({ method: 'POST', path, headers, signal })) {
        timer.refresh();
        const failure = progress.read(line);
        if (failure !== undefined) throw explainPullFailure(image, failure);
      }
    } catch (error) {
      if (isRefusal(error, 400, 401, 403, 404, 500)) throw explainPullFailure(image, error.words);
      if (!signal.aborted) throw error;
      const how = silence.signal.aborted
        ? `nothing came for ${longestSilenceMs / 1000} s`
        : `it took longer than ${longestMs / 60_000} min`;
      throw new CribError('SERVICE_UNAVAILABLE', `The image ${image} could not be pulled: ${how}${describeProgress(progress)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async ensure({ sourceId, image, pull: policy, log, signal }) {
      if (policy !== 'always' && (await isHere(image))) return;
      if (policy === 'never') throw notHere(image);
      log.append('event', `Pulling the image ${image}.`);
      const { done, progress } = pullOnce(image);
      waiting.set(sourceId, image);
      try {
        await abortable(done, signal);
      } finally {
        waiting.delete(sourceId);
      }
      log.append('event', `The image ${image} is here${describeProgress(progress)}.`);
    },
    pullingOf(sourceId) {
      const image = waiting.get(sourceId);
      const progress = pulls.get(image ?? '')?.progress;
      return progress === undefined ? undefined : `pulling image ${image}${describeProgress(progress)}`;
    },
  };
}

function notHere(image: string): CribError {
  const advice = `Fetch it with \`docker pull ${image}\`, or set \`pull: missing\``;
  return new EngineUnavailableError(
    `Package not found: the image ${image} is not here, and \`pull: never\` forbids fetching it. ${advice}.`,
    {
      code: 'NOT_FOUND',
      field: 'mcp_container.image',
    },
  );
}

/** Without a tag the engine would fetch every tag. */
function splitImage(image: string): { name: string; tag: string } {
  const [, name = image, digest] = /^(.+)@(sha256:[a-f0-9]{64})$/.exec(image) ?? [];
  if (digest !== undefined) return { name: name.replace(/:[^/:]+$/, ''), tag: digest };
  const [, plain = image, tag = 'latest'] = /^(.+):([^/:]+)$/.exec(image) ?? [];
  return { name: plain, tag };
}
