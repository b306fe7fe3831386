import { defineCommandLine } from '../registration/command-line.ts';
import { describeServer, describeServerPreview, optionForValue } from './command-line/describe.ts';
import { mcpFields } from './command-line/fields.ts';
import { nameOfTarget } from './command-line/name-of-target.ts';
import { mcpOptions } from './command-line/options.ts';
import { refuseSenseless } from './command-line/refuse-senseless.ts';
import { mcpTarget } from './command-line/target.ts';
import { npxOptions, uvxOptions } from './registration/runner-options.ts';

/** [SRC-1] MCP servers on the command line: by package, program, folder, container, registry or address. */
export const mcpCommandLine = defineCommandLine({
  noun: 'MCP servers',
  operands: ['npx package', 'uvx package', 'registry:name', 'url', 'folder', 'program'],
  options: mcpOptions,
  chosenBy: ['container', 'image'],
  launchers: { npx: npxOptions, uvx: uvxOptions },
  notes: [
    'Downloading a package can take a while.',
    'Write options of npx and uvx directly after them: `uvx --from PACKAGE PROGRAM`, `npx -p PACKAGE PROGRAM`.',
    'Write options of the server after `--`. Write a program with all its arguments after `--`, too.',
    'registry:io.github.owner/name[@version] is looked up in the MCP registry, and smithery:owner/name at Smithery: the entry says what to start and which variables it needs.',
    'A folder must contain a manifest: server.json or plugin.json.',
    'With --container or --image, the operands are the program inside the container and its arguments.',
    'The server keeps running by default (--lifecycle singleton), which makes calls fast.',
  ],
  examples: [
    'toolcrib add npx @modelcontextprotocol/server-everything',
    'toolcrib add npx @modelcontextprotocol/server-filesystem --name files -- /srv/files',
    'toolcrib add uvx mcp-server-git --version 2026.1.14',
    "toolcrib add uvx --from 'mcp-server-fetch==2026.10.24' --with socksio mcp-server-fetch",
    'toolcrib add npx @example/server-tickets --secret TICKETS_TOKEN < token.txt',
    'toolcrib add registry:io.github.domdomegg/airtable-mcp-server --secret AIRTABLE_API_KEY < key.txt',
    'toolcrib add https://mcp.example.org/mcp --oauth',
    "toolcrib add https://mcp.example.org/mcp --header 'X-Team: blue' --secret BEARER_TOKEN",
    'toolcrib add ./plugins/github --secret GITHUB_TOKEN --dry-run',
    'toolcrib add -- python3 ./server.py --verbose',
    'toolcrib add --container tools -- node /srv/server.js',
    'toolcrib add --image ghcr.io/example/tickets:1 --network bridge --secret TICKETS_TOKEN -- tickets-mcp --stdio',
  ],
  recognise({ written }) {
    // Any other word may be a program, and any address may be that of a server.
    return /^(?:npx|uvx)$|^(?:registry|smithery):/.test(written) ? 'certain' : 'possible';
  },
  register(request) {
    const target = mcpTarget(request);
    refuseSenseless(request.given, target);
    return { name: nameOfTarget(target), form: mcpFields(request, target) };
  },
  optionFor: optionForValue,
  describePreview: describeServerPreview,
  describe: describeServer,
});
