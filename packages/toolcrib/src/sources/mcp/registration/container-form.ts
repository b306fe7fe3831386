import { z } from 'zod';
import { containerPlaceSchema, containerSettingsSchema } from '../../../model/container.ts';
import { valueInputSchema, valuesSchema } from '../../registration/value-input.ts';

const { workdir, user } = containerPlaceSchema.shape;
const { limits, network, read_only, tmpfs, mounts, pull } = containerSettingsSchema.shape;
const { memory_mb, cpus, pids } = limits.unwrap().shape;

/** [SRC-3] A server inside a container, or the container settings of a docker package. */
export const containerFormSchema = z
  .strictObject({
    container: z.string().min(1).max(255).optional().describe('The name or id of a running container'),
    image: z.string().min(1).max(500).optional().describe('The image to create a container from; `pull` says when it is fetched'),
    command: z
      .array(z.string().max(32_768))
      .min(1)
      .max(400)
      .optional()
      .describe('The program to start inside the container, and its arguments. They do not pass through a shell'),
    env: valuesSchema(valueInputSchema).optional().describe('Environment variables. Those of this machine are not passed on'),
    workdir: workdir.unwrap().unwrap().optional().describe('The directory inside the container to start in'),
    user: user.unwrap().unwrap().optional().describe("The user the program runs as; by default the image's user"),
    // Without the model's defaults, so that a field that was given can be told from one that was not: settings for a container that exists
    // already would have no effect, and are refused.
    limits: z
      .strictObject({ memory_mb: memory_mb.unwrap().optional(), cpus: cpus.unwrap().optional(), pids: pids.unwrap().optional() })
      .optional()
      .describe('Limits of the container; by default 512 MiB, one processor and 256 processes'),
    network: network.unwrap().optional(),
    read_only: read_only.unwrap().optional(),
    tmpfs: tmpfs.unwrap().optional(),
    mounts: mounts.unwrap().optional(),
    pull: pull.unwrap().optional(),
  })
  .meta({
    description:
      'A server started inside a container, either a running one (container) or a new one (image). With a docker package: the settings of its container',
  });
export type ContainerForm = z.infer<typeof containerFormSchema>;
