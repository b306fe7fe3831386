import type { CheckAddress } from '../../net/check-address.ts';
import type { Pinning } from '../../model/source-definition.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { LookUpServer } from '../mcp/registry/registry-lookup.ts';
import type { Manifest } from '../mcp/registration/manifest-model.ts';
import type { AllowedMounts } from '../mcp/registration/mount-rules.ts';

/** What turning a registration into a definition needs from outside. */
export interface RegistrationContext {
  /** The source that is replaced; nothing where it is a new one. */
  known?: DefinedSource | undefined;
  /** It speaks to somebody else from now on, who gets none of the secrets that are stored. */
  moved?: boolean;
  readManifest(directory: string): Promise<Manifest | undefined>;
  /** [SRC-2] What a registry says of a server. Left out, nothing is looked up. */
  lookUp?: LookUpServer | undefined;
  /** Under which name the secret of a variable is stored: `mcp_{id}.NAME`. */
  secretName(variable: string): string;
  /** Whether a `secret_ref` names a stored secret. Left out, every reference counts as good until the server is started. */
  hasSecret?(name: string): Promise<boolean>;
  /** Whether `${NAME}` could be filled in. Left out, as above. */
  hasVariable?(name: string): Promise<boolean>;
  /** [SEC-1] Refuses an address that may not be connected to, where it is written as one. Left out, it is seen when connecting. */
  checkLiteral?(url: URL): void;
  /** [SEC-1] Refuses plain http to another machine, unless it is allowed; strictly where it is left out. */
  checkAddress?: CheckAddress;
  /** Lets packages come from an address, a repository or a file instead of the registry. */
  allowRisky?: boolean;
  /** Directories of this machine that containers may mount; none where it is left out. */
  allowedMounts?: AllowedMounts;
  /** [INV-3] For a source that does not say what becomes of new and changed tools; `off` where it is left out. */
  pinning?: Pinning | undefined;
  /** [SRC-8] Reports missing values instead of refusing the registration. */
  preview?: boolean;
}
