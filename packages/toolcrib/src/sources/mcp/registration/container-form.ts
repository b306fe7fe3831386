import { z } from 'zod';
import { containerPlaceSchema, containerSettingsSchema } from '../../../model/container.ts';
import { valueInputSchema, valuesSchema } from '../../registration/value-input.ts';

const { workdir, user } = containerPlaceSchema.shape;
const { limits, network, read_only, tmpfs, mounts, pull } = containerSettingsSchema.shape;
const { memory_mb, cpus, pids } = limits.unwrap().shape;

/** [SRC-3] A server inside a container, or how the container of a docker package is made. */
export const containerFormSchema = z
  .strictObject({
    container: z.string().min(1).max(255).optional().describe('The name or id of a container that runs already'),
    image: z.string().min(1).max(500).optional().describe('The image to make a container from; fetched where it is not here, see pull'),
    command: z
      .array(z.string().max(32_768))
      .min(1)
      .max(400)
      .optional()
      .describe('The program inside the container and its arguments. No shell reads them'),
    env: valuesSchema(valueInputSchema).optional().describe('Variables of its environment. Nothing of this machine is added'),
    workdir: workdir.unwrap().unwrap().optional().describe('The directory inside the container to start in'),
    user: user.unwrap().unwrap().optional().describe('The user it runs as; by default that of the image'),
    // Without the defaults of the model: left out is not the same as said, since what is said of a container that is there already would
    // have no effect, and is refused.
    limits: z
      .strictObject({ memory_mb: memory_mb.unwrap().optional(), cpus: cpus.unwrap().optional(), pids: pids.unwrap().optional() })
      .optional()
      .describe('Its limits; by default 512 MiB, one processor and 256 processes'),
    network: network.unwrap().optional(),
    read_only: read_only.unwrap().optional(),
    tmpfs: tmpfs.unwrap().optional(),
    mounts: mounts.unwrap().optional(),
    pull: pull.unwrap().optional(),
  })
  .meta({
    description:
      'A server started inside a container: one that runs (container) or one that is made (image). Beside a docker package: how its container is made',
  });
export type ContainerForm = z.infer<typeof containerFormSchema>;
