/**
 * Node's own HTTP. `import … from 'node:http'` reads every export of the module, and three of those (`WebSocket` and its events) load
 * Node's copy of undici, which takes 14 MB of memory and which nothing here uses.
 */
export const http = process.getBuiltinModule('node:http');
