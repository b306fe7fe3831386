/**
 * A host application: users sign in with Keycloak, and an agent uses their tools in their name.
 * `npx node examples/agent-host/main.ts`; its settings are in the environment, as below. README.md says what to look at.
 */
import { createServer } from 'node:http';
import { createHost } from './host.ts';

const { ISSUER = 'http://127.0.0.1:18080/realms/toolcrib', TOOLCRIB_URL = 'http://127.0.0.1:7300', PORT = '7420' } = process.env;

const ownUrl = `http://127.0.0.1:${PORT}`;
const host = await createHost({ issuer: ISSUER, clientId: 'agent-host', toolcribUrl: TOOLCRIB_URL, ownUrl });
createServer(host).listen(Number(PORT), '127.0.0.1', () => console.log(`The host application is open: ${ownUrl}`));
