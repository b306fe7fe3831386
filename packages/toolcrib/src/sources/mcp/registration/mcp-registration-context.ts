import type { RegistrationContext } from '../../registration/registration-context.ts';
import type { LookedUp } from '../../../model/looked-up.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import type { Manifest } from './manifest-model.ts';
import type { AllowedMounts } from './mount-rules.ts';

/** The registry and the name under which it describes a server. */
export type RegistryOrigin = Exclude<McpDefinition['origin'], 'manual'>;

/** Looks up a server in a registry. `field` is the request field that names the server. */
export type LookUpServer = (origin: RegistryOrigin, field: string) => Promise<LookedUp>;

/** The context for turning the registration of an MCP server into a definition. */
export interface McpRegistrationContext extends RegistrationContext {
  readManifest(directory: string): Promise<Manifest | undefined>;
  /** [SRC-2] Undefined if nothing is to be looked up. */
  lookUp?: LookUpServer | undefined;
  /** Directories of this machine that containers may mount; none by default. */
  allowedMounts?: AllowedMounts;
}
