import type { McpDefinition } from '../mcp-definition.ts';
import { isContainerRunner, programName } from '../registration/program-name.ts';

/** Error messages of programs without a network: Node, Python, Go, curl and the C library. */
const noNetwork =
  /ENETUNREACH|EAI_AGAIN|EHOSTUNREACH|getaddrinfo|ENETDOWN|Temporary failure in name resolution|Name or service not known|Network is unreachable|Could not resolve host|no such host|Failed to establish a new connection|nodename nor servname|network is unreachable|server misbehaving|dns error|failed to lookup address/i;
/** A refused connection to another machine means the same; one to the machine itself does not. */
const refused = /(?:ECONNREFUSED|connection refused|connect: refused)[^\n]{0,200}?(\d{1,3}(?:\.\d{1,3}){3})/i;

/** [LIFE-1] Advice for a server that failed because its container has no network, which is our safe default. */
export function networkHint(definition: Pick<McpDefinition, 'command' | 'container'>, lastWords: readonly string[]): string | undefined {
  if (!isWithoutNetwork(definition)) return undefined;
  const said = lastWords.join('\n');
  const [, address] = refused.exec(said) ?? [];
  if (!noNetwork.test(said) && (address === undefined || address.startsWith('127.'))) return undefined;
  return 'Its container has no network (`network: none`, the default), and the server seems to need one: write `"mcp_container": {"network": "bridge"}`, or `--network bridge` with `toolcrib add`';
}

function isWithoutNetwork({ command, container }: Pick<McpDefinition, 'command' | 'container'>): boolean {
  if (container !== null) return container.name === null && container.settings.network === 'none';
  if (!isContainerRunner(programName(command[0] ?? ''))) return false;
  const at = command.findIndex((part) => /^--net(?:work)?(?:=|$)/.test(part));
  return (command[at] ?? '').endsWith('=none') || (at > 0 && command[at + 1] === 'none');
}
