import { expect, test } from 'vitest';
import { endedForItsOwnReason } from '../../src/sources/mcp/process/early-exit.ts';

test.each([
  ['npx without a network', ['npm error code ENOTFOUND', 'npm error network request to https://registry.example.org failed']],
  ['uvx without a solution', ['  × No solution found when resolving tool dependencies:', '  ╰─▶ Because a depends on b']],
  ['a missing variable', ['Starting…', 'Error: BRAVE_API_KEY environment variable is required']],
  ['how it is used', ['Usage: mcp-server-git [OPTIONS]', "Try 'mcp-server-git --help' for help."]],
  ['a module that is not there', ['node:internal/modules/cjs/loader:1368', "Error: Cannot find module '/srv/server.js'"]],
  [
    'Python that fails while it is loaded',
    ['Traceback (most recent call last):', '  File "server.py", line 1, in <module>', "KeyError: 'TOKEN'"],
  ],
])('[MCP-1] a server with this output ended for a reason of its own: %s', (_what, words) => {
  expect(endedForItsOwnReason(words)).toBe(true);
});

test.each([
  ['nothing at all', []],
  ['only that it is there', ['Server running on stdio']],
  ['a complaint about the question', ['Error: expected an initialize request, got server/discover']],
  ['a trace', ['TypeError: handler is not a function', '    at Interface.<anonymous> (/srv/server.js:10:3)']],
  [
    'Python that fails later',
    ['Traceback (most recent call last):', '  File "s.py", line 1, in <module>', '  File "s.py", line 9, in run', 'RuntimeError'],
  ],
])('[MCP-1] a server with this output may have ended on our question: %s', (_what, words) => {
  expect(endedForItsOwnReason(words)).toBe(false);
});
