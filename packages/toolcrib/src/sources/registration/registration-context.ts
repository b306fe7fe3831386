import type { CheckAddress } from '../../net/check-address.ts';
import type { Pinning } from '../../model/source-definition.ts';
import type { DefinedSource } from '../../model/source.ts';

/** Everything from outside that is needed to turn a registration into a definition. */
export interface RegistrationContext {
  /** The source that is replaced; undefined for a new source. */
  known?: DefinedSource | undefined;
  /** Whether the source moves to another server, which must not get the stored secrets. */
  moved?: boolean;
  /** The name under which the secret of a variable is stored: `mcp_{id}.NAME`. */
  secretName(variable: string): string;
  /** Whether a `secret_ref` names a stored secret. If absent, every reference is accepted until the server starts. */
  hasSecret?(name: string): Promise<boolean>;
  /** Whether `${NAME}` could be filled in. If absent, every name is accepted until the server starts. */
  hasVariable?(name: string): Promise<boolean>;
  /** [SEC-1] Refuses a host that must not be connected to, without a DNS lookup. If absent, the host is only checked on connecting. */
  checkLiteral?(url: URL): void;
  /** [SEC-1] Refuses plain http to another machine, unless it is allowed. If absent, the strict check is used. */
  checkAddress?: CheckAddress;
  /** Lets packages come from an address, a repository or a file instead of the registry. */
  allowRisky?: boolean;
  /** [INV-3] The default for a source that does not set `pinning`; `off` if absent. */
  pinning?: Pinning | undefined;
  /** [SRC-8] Reports missing values instead of refusing the registration. */
  preview?: boolean;
}
