/** One thing that must hold. Once it is built, some test must name it: `test('[POL-1] a policy …')`. */
export interface Requirement {
  id: string;
  /** One sentence: what must hold. */
  text: string;
  area: string;
  /** Planned ones are listed so that their ids are taken, and so that readers see what is missing. */
  built: boolean;
}

interface Area {
  area: string;
  built: Record<string, string>;
  planned: Record<string, string>;
}

/** `docs/requirements.md` is made from this: run `npm run requirements` after a change. */
const areas: Area[] = [
  {
    area: 'Names',
    built: {
      'NAME-1': 'A tool is named `<namespace>:<tool>`; `<namespace>.<tool>` and its opaque id are accepted wherever a tool is named.',
      'NAME-2':
        'A namespace is a unique slug of at most 32 characters, given or made from the name; a taken one is refused with `CONFLICT`.',
      'NAME-3':
        'The name a model sees fits what model APIs accept, is unique also ignoring case, and never changes when a source is added.',
      'NAME-4': 'Policies and routing go by ids, never by the beginning of a name.',
    },
    planned: {},
  },
  {
    area: 'Registering sources',
    built: {
      'SRC-1': 'An MCP server, local or remote, can be registered with one flat body; a field that makes no sense is named in the refusal.',
      'SRC-2': 'An MCP server can be registered by package or registry name, and is read back in the form it was given in.',
      'SRC-3': 'An MCP server can run inside a Docker container, an existing one or one made from an image.',
      'SRC-4': '`mcpServers` JSON of desktop clients, UTCP call templates and UTCP manuals can be imported.',
      'SRC-5': 'An OpenAPI document can be registered by URL, as a file, or as pasted text.',
      'SRC-6': '`toolcrib.yaml` holds sources, groups, policies, issuers and limits; `plan` shows the difference, `apply` makes it so.',
      'SRC-7':
        'A plugin directory is registered by its manifest, ours or that of the public registry; arguments never pass through a shell.',
      'SRC-8': 'A preview shows what would start, which tools would appear and which variables are missing, and saves nothing.',
      'SRC-9': 'A valid registration is saved at once and discovered in the background; one whose discovery fails is kept with its error.',
      'SRC-10': 'A registration without a name, package, transport or required variable saves and starts nothing, and names the field.',
    },
    planned: {},
  },
  {
    area: 'Environment of a server',
    built: {
      'ENV-1': 'Variables are resolved at each start, from the manifest, registered values, secrets and `${VAR}`.',
      'ENV-2': '`${VAR}` reads secrets and declared variables, and of our own environment only the names the operator has allowed.',
      'ENV-3': 'A child process gets the variables its source names and a minimal base, never our whole environment.',
      'ENV-4': 'The value of a secret appears in no answer, log, error, event or trace, even where a server prints its own environment.',
      'ENV-5': 'Variables of a remote server become its headers; headers that are given as such win.',
      'ENV-6': 'Variables that change which code runs, such as `NODE_OPTIONS` and `LD_*`, are refused or need the run permission.',
    },
    planned: {},
  },
  {
    area: 'MCP servers',
    built: {
      'MCP-1':
        'Servers of every revision from 2024-11-05 to 2026-07-28 work; the revision is found by probing, and a failed probe is forgotten.',
      'MCP-2': 'stdio, SSE, streamable HTTP and docker exec are transports behind one interface.',
      'MCP-3': 'stdio reads lines or `Content-Length` frames, skips noise, matches answers by id, and keeps a bounded log of stderr.',
      'MCP-4': 'docker exec separates stdout from stderr, ends the process inside the container on close, and knows its exit code.',
      'MCP-5':
        'A transient server serves one call; a singleton is started once and reused; sessions with user credentials are never shared.',
      'MCP-6': 'A transient server can have standby processes, started but unused, each of which serves exactly one call.',
      'MCP-7': 'All pages of the tool list are read, changes are followed, and an answer that breaks its output schema only gets a flag.',
      'MCP-8': 'Resources and resource templates can be registered as tools; prompts are not exposed.',
      'MCP-9': 'Progress reaches the caller in order and extends the deadline up to a maximum; cancelling reaches the server.',
      'MCP-10': 'Timeouts, heartbeats and restarts are set per source; after the last restart the error is final until somebody starts it.',
      'MCP-11': 'A lost session is reopened once, and the call repeated only if it cannot have run or may safely run twice.',
      'MCP-12': 'Remote servers take headers, bearer tokens, client credentials, token exchange, or each user’s own OAuth login.',
      'MCP-13': 'A question of the server reaches the caller and can be answered; without a caller at hand it is declined, as sampling is.',
    },
    planned: {},
  },
  {
    area: 'Lifecycle and health',
    built: {
      'LIFE-1': 'Whether a source is wanted, its status and its health are separate facts; a tool’s own failure is not its source’s.',
      'LIFE-2': 'A crash keeps the tools listed while the server restarts; only a final error, a stop or disabling takes them off.',
      'LIFE-3': 'A start goes from credentials to the tool list; for a transient source `running` means that this has worked once.',
      'LIFE-4': 'A stop closes stdin, then sends SIGTERM and, five seconds later, SIGKILL to the whole process group.',
      'LIFE-5': 'No process of ours is left behind: not by a deaf server, one that forks, a failed handshake, or a killed gateway.',
      'LIFE-6': '`McpService` offers the same servers to a program that embeds the library.',
      'LIFE-7': 'Enabling a source starts it; if that fails, the flag is put back and the error returned.',
      'LIFE-8': 'One bad source never delays or breaks another.',
      'MC-T1': 'Starting a source starts the right program.',
      'MC-T2': 'Stopping a source ends its process.',
      'MC-T3': 'After the start the tools are listed.',
      'MC-T4': 'A tool call returns a result.',
      'MC-T5': 'A server that fails does not hold up others.',
      'MC-T6': 'A server gets the environment it was registered with.',
      'MC-T7': 'Secrets are read from the store when a server starts.',
      'MC-T8': 'Shutting down stops every server.',
      'MC-T9': 'The status shows the actual state.',
      'MC-NT1': 'Starting a disabled source is refused with `CONFLICT` and changes nothing.',
      'MC-NT2': 'A call of an unknown source is refused with `NOT_FOUND`, and nothing runs.',
      'MC-NT3': 'A source without a name is refused with `VALIDATION_ERROR` and not saved.',
      'MC-NT4': 'A source that lacks a required variable is refused with `VALIDATION_ERROR` and not saved.',
      'ERR-1': 'A package that does not exist is `NOT_FOUND`.',
      'ERR-2': 'A Docker daemon that does not run is `SERVICE_UNAVAILABLE`.',
      'ERR-3': 'A required credential that is missing is `VALIDATION_ERROR`.',
      'ERR-4': 'A handshake that takes too long is `NETWORK_ERROR`.',
      'ERR-5': 'A crash fails the pending calls at once with `SERVICE_UNAVAILABLE` and the last lines of stderr.',
      'ERR-6': 'A call that times out is an error result with `NETWORK_ERROR`.',
      'ERR-7': 'A call that fails upstream is an error result with `SERVICE_UNAVAILABLE`.',
      'ERR-8': 'A lost connection is `NETWORK_ERROR`.',
      'ERR-9': 'An invalid MCP message is an error result with `SERVICE_UNAVAILABLE`; its details are logged.',
      'ERR-10': 'A 401 or 403 from upstream is an error result with `upstream_status` and makes the source `unauthenticated`.',
    },
    planned: {},
  },
  {
    area: 'Discovery and inventory',
    built: {
      'INV-1': 'Registration, start, refresh, schedule and `list_changed` discover tools; listing them never calls an upstream.',
      'INV-2': 'A failed refresh keeps the last good tools; vanished tools are deprecated, and a refresh reports what it changed.',
      'INV-3': 'Changed definitions can be held until an administrator has approved the difference; suspicious text is flagged.',
      'INV-4': 'Tools are searched locally, and the policy filters before anything is ranked.',
      'INV-5': 'Tools of any source can be included, excluded, renamed, described anew and labelled; that survives a refresh.',
      'INV-6': 'Discovery uses a credential of its own; where only users have credentials, the status says why there are no tools.',
    },
    planned: {},
  },
  {
    area: 'Execution',
    built: {
      'EXEC-1': 'Every call of every source takes one path: find, decide, validate, credentials, invoke, shape, record.',
      'EXEC-2': 'An answer has one status, its text, and a result that is parsed only where nothing can get lost.',
      'EXEC-3': 'A call refused before its session is an HTTP error; one that fails later is a 200 with `success: false` and an error.',
      'EXEC-4': 'The message of a failed MCP call comes from its structured content, else its text, else its raw result.',
      'EXEC-5': 'One function formats structured results as YAML for a model.',
      'EXEC-6': 'There is one error class, and each code has one HTTP status; the library exports named subclasses.',
      'EXEC-7': 'Timeouts, concurrency, queues, rates, sizes and circuit breakers are limited per source, tool and principal.',
      'EXEC-8': 'A call is retried only if it cannot have run, or if its tool is read-only or idempotent.',
      'EXEC-9': 'A call with a known `Idempotency-Key` gets the first answer again.',
      'EXEC-10': 'A batch runs many calls at once and answers each on its own.',
    },
    planned: {},
  },
  {
    area: 'REST API',
    built: {
      'BFF-1': 'A caller lists their own tools, with ETags, search, paging, and the formats of several model APIs.',
      'BFF-2': 'A caller calls a tool and gets the answer at once, as a stream of events, or later.',
      'BFF-3': 'A caller sends a batch of calls in one request.',
      'BFF-4': 'An event stream tells a caller about changes of their own tool list, resumes, and ends with the token.',
      'BFF-5': 'The owner of a call, and nobody else, reads its state, cancels it, answers its questions and fetches its artifacts.',
      'BFF-6': 'Administrators manage sources, tools, groups, policies, secrets and calls over REST, as a claim allows.',
      'BFF-7': 'An OpenAPI 3.1 document is generated from the schemas that validate; health, readiness and metrics have addresses.',
      'BFF-8': 'No MCP endpoint is served unless the operator opens it.',
    },
    planned: {},
  },
  {
    area: 'Identity and credentials',
    built: {
      'ID-1': 'Callers prove who they are with a JWT of a configured issuer; without an issuer the server runs on loopback only.',
      'ID-2': 'A source has one typed credential; if it cannot be had, the call is refused.',
      'ID-3': 'A caller’s token is exchanged for one audience, and the result is checked and cached until shortly before it expires.',
      'ID-4': 'The caller’s token is never forwarded unless the source says so.',
      'ID-5': 'Faults of the caller and of the operator have different codes, and one user never hurts another.',
      'ID-6': 'A local server gets the caller’s credential in a named variable, in transient mode only.',
    },
    planned: {},
  },
  {
    area: 'Policy',
    built: {
      'POL-1': 'A policy grants its groups when all of its matchers hold; a policy without matchers grants nothing.',
      'POL-2': 'Matchers compare typed values; a missing claim, or an error, never grants.',
      'POL-3': 'One decision serves lists, calls and streams, and can explain itself.',
      'POL-4': 'A group selects tools by conditions, then adds the explicit ones and removes the excluded ones.',
      'POL-5': 'A revoked right is gone with the next request, on every server.',
    },
    planned: {},
  },
  {
    area: 'Security',
    built: {
      'SEC-1': 'All outgoing traffic passes one guard, which refuses metadata addresses always and private ones in production.',
      'SEC-2': 'Registering anything that starts a program needs the run permission, and in production a rule of the operator.',
      'SEC-3': 'Secrets are encrypted with AES-256-GCM, bound to their record, under a key ring.',
      'SEC-4': 'Every call, denial, failed login and change is recorded, tamper-evident and exportable, without arguments or results.',
    },
    planned: {},
  },
  {
    area: 'OpenAPI services',
    built: {
      'OAS-1': 'Every operation of an OpenAPI document, 2.0 to 3.2, becomes a tool; a bad operation is skipped and reported.',
      'OAS-2': 'Parameters of every place and style and bodies of every usual type can be sent; name collisions are resolved visibly.',
      'OAS-3': 'Schemas are self-contained, also with cycles; output schemas are advisory and limited in size.',
      'OAS-4': 'Servers, their variables and security schemes are understood.',
      'OAS-5': 'Tags, methods and paths can select tools; methods say which tools are read-only or idempotent.',
      'HTTP-1': 'A request is encoded exactly as the document says.',
      'HTTP-2': 'An answer is shaped by its content type; one that is not 2xx is an error result, and `Retry-After` is honoured.',
      'POLL-1': 'Long-running operations are polled to completion.',
      'POLL-2': 'Polling goes on after a crash.',
    },
    planned: {},
  },
  {
    area: 'GraphQL services',
    built: {
      'GQL-1':
        'Each query and each mutation of a GraphQL service is a tool, from introspection or a schema; a bad field never spoils the rest.',
      'GQL-2': 'A tool asks for a selection bounded by depth and size, and its caller may choose another, checked against the schema.',
      'GQL-3': 'Errors and partial data are told apart, and errors keep the messages, paths and codes of the service.',
      'GQL-4':
        'GraphQL services have credentials, egress rules, limits, pinning, curation, configuration as code and preview like every source.',
    },
    planned: {},
  },
  {
    area: 'Built-in tools and workflows',
    built: {
      'BI-1': 'Small built-in tools work offline: time, wait, JSON query, diff, calculator, units, uuid and hash.',
      'BI-2': 'Models can search, describe and call the tools their caller may use.',
      'WF-1': 'Each workflow of an Arazzo document is a tool whose steps run under the caller’s identity and policy.',
      'WF-2': 'A workflow goes on after a crash.',
    },
    planned: {},
  },
  {
    area: 'Clients and formats',
    built: {
      'UTCP-1': 'UTCP is read, and a caller’s tools are offered as a UTCP manual that the public client can use.',
      'LC-1': 'LangChain and LangGraph agents use a caller’s tools, from a server or in their own process.',
      'HOST-1': 'An example host application signs a user in with Keycloak and lets an agent use the user’s tools.',
      'CLI-1': 'The command line does everything an operator needs, pleasantly at a terminal and as JSON for scripts.',
    },
    planned: {},
  },
  {
    area: 'Operations',
    built: {
      'OPS-1': 'Traces, metrics, logs, a redacted wire log, alert rules and a dashboard show what the server does.',
      'OPS-2': 'SQLite serves one server and PostgreSQL many; a change on one is seen by all within a second.',
    },
    planned: { 'OPS-3': 'Calls, events, artifacts and logs are deleted when they are old, and can be backed up and restored.' },
  },
  {
    area: 'Finding tools and code mode',
    built: { 'FIND-1': 'The quality of the search is measured on a kept set of requests.' },
    planned: {
      'CODE-1': '`run_code` runs a program in a sandbox that reaches nothing but the caller’s tools.',
      'CODE-2': 'Each call that such a program makes is decided, limited, approved and recorded as any other.',
      'CODE-3': 'Time, memory, calls and output are limited, with a clear error for each, and no run sees another.',
    },
  },
  {
    area: 'The MCP door',
    built: {},
    planned: {
      'DOOR-1': 'MCP clients reach their tools at `/mcp` and `/mcp/{group}`, once the operator has opened it.',
      'DOOR-2': 'Clients of four MCP revisions are served, whatever revision the source behind speaks.',
      'DOOR-3': 'A call through this door takes the same path as any other, and its record names the door and the client.',
      'DOOR-4': 'A session belongs to its user, outlives a refreshed token, and is unknown to everybody else.',
      'DOOR-5': 'Progress, questions, logs, list changes, resources and prompts pass through.',
      'DOOR-6': 'Names suit the usual clients; a search mode offers the finding tools only; each address knows its size in tokens.',
      'DOOR-7': 'A forbidden tool, prompt or resource looks like an unknown one.',
    },
  },
  {
    area: 'Login for MCP clients',
    built: {
      'LOGIN-1': 'Each address has its own RFC 9728 metadata, and a 401 points to it.',
      'LOGIN-2': 'A token for another resource is refused.',
      'LOGIN-3': 'A bridge is the authorization server for MCP clients, with the company’s OIDC provider behind it.',
      'LOGIN-4': 'Tokens of the provider stay sealed, are refreshed, and serve token exchange.',
      'LOGIN-5': 'A logout at the provider ends the tokens of the bridge within a stated time.',
      'LOGIN-6': '`doctor --login` names the step that is broken.',
    },
    planned: {},
  },
  {
    area: 'Governance',
    built: {},
    planned: {
      'APPR-1': 'A rule can ask for approval by the caller, by a group, or by two people.',
      'APPR-2': 'A call that waits for approval survives restarts and moves between servers.',
      'APPR-3': 'Only the approved arguments and definition run; a change of either needs a new approval.',
      'APPR-4': 'An approval can be given over REST, command line, MCP, console or signed webhook, and one answer wins.',
      'APPR-5': 'Deadlines, denials and remembered approvals are in the record.',
      'QUOTA-1': 'Use is limited by principal, client, group, tool and source, from minutes to months.',
      'QUOTA-2': 'Quotas count over all servers and are exceeded by no more than a stated bound.',
      'QUOTA-3': 'Calls can have prices.',
      'QUOTA-4': 'Callers see their own quotas.',
      'USE-1': 'Usage is shown by tool, source, principal and client over time.',
      'AGENT-1': 'Policies and the record know the client and the chain of actors.',
      'AGENT-2': 'Enterprise-managed authorization works in both directions.',
      'AGENT-3': 'Workloads can be callers with identities of their own.',
      'STOP-1': 'A principal, client, tool, source or everything can be stopped at once on all servers.',
      'ROLE-1': 'One table says which of six roles may use which route.',
      'HOOK-1': 'Signed hooks run before and after calls, with a deadline, and fail open or closed as configured.',
      'SIEM-1': 'The record is streamed out in order, at least once, and resumes after an interruption.',
    },
  },
  {
    area: 'Console',
    built: {},
    planned: {
      'UI-1': 'A web console shows sources, tools, access, calls and differences to approve.',
      'UI-2': 'People sign in to the console with their company account, and the console uses the public API only.',
      'UI-3': 'A home page shows what is up and what needs attention.',
      'UI-4': 'Sources can be added, watched and mended.',
      'UI-5': 'Tools can be tried with a form made from their schema.',
      'UI-6': 'Access can be changed, and the console shows why somebody may use a tool.',
      'UI-7': 'Clients can be seen and blocked.',
      'UI-8': 'Calls can be searched and plotted.',
      'UI-9': 'Approvals are answered and usage is shown.',
      'UI-10': 'Users see their own tools, connections and calls.',
      'UI-11': 'Secrets are set, and the record is read and verified.',
      'UI-12': 'Everything can be searched for, and reached from the keyboard.',
    },
  },
  {
    area: 'Many servers',
    built: {},
    planned: {
      'REPL-1': 'Any server can serve any request.',
      'REPL-2': 'A singleton runs once in the cluster or once per server, as configured, and moves when its server goes.',
      'REPL-3': 'Schedules and heartbeats happen once in the cluster.',
      'REPL-4': 'Streams, background calls, sessions, questions and artifacts follow the caller.',
      'REPL-5': 'A server without its database acknowledges nothing.',
      'REPL-6': 'A rolling restart loses nothing.',
    },
  },
  {
    area: 'Installing and releasing',
    built: {},
    planned: {
      'K8S-1': 'A Helm chart installs the server.',
      'K8S-2': 'MCP servers can run as pods.',
      'K8S-3': 'Pods that a crash leaves behind are removed.',
      'REL-1': 'The packages are published.',
      'REL-2': 'The image is published with a software bill of materials.',
      'REL-3': 'A systemd unit and a compose file are provided.',
      'REL-4': 'A script makes a release.',
      'UPG-1': 'A new release opens the data of the last one.',
      'UPG-2': 'Two neighbouring releases run side by side.',
      'BAK-1': 'A backup can be taken from a running server and restored.',
      'EDGE-1': 'TLS, mutual TLS, trusted proxies, connection limits and sockets can be configured.',
      'VAULT-1': 'Secrets can come from an outside vault.',
      'SOAK-1': 'The books of a million calls balance under faults.',
    },
  },
];

export const requirements: readonly Requirement[] = areas.flatMap(({ area, built, planned }) =>
  Object.entries({ ...built, ...planned }).map(([id, text]) => ({ id, text, area, built: id in built })),
);
