/**
 * The parts of undici that we use. Its main file also loads `fetch`, caches, mocks and web sockets: five times as many files, and 15 MB of
 * memory. The version is pinned, and a test compares these with what the main file exports.
 */
import type * as undici from 'undici';
import apiRequest from 'undici/lib/api/api-request.js';
import connector from 'undici/lib/core/connect.js';
import clientClass from 'undici/lib/dispatcher/client.js';
import dispatcherClass from 'undici/lib/dispatcher/dispatcher.js';

export const Client: typeof undici.Client = clientClass;
export const buildConnector: typeof undici.buildConnector = connector;

// As its main file does it.
dispatcherClass.prototype.request = apiRequest;
