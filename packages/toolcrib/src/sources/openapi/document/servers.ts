import { isObject, type JsonObject } from '../../../model/json.ts';
import { listAt, objectAt, own, textAt, wordAt, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { isDotSegment } from './path-template.ts';
import { Unusable } from '../../documents/unusable.ts';

interface ServersInput {
  document: OpenDocument;
  /** The document's address, which relative addresses are resolved against. */
  url: URL | null;
  /** Replaces all servers in the document. */
  serverUrl: string | null;
  variables: Readonly<Record<string, string>>;
}

/** [OAS-4] Gives the server address that the path of an operation is appended to. Throws `Unusable` if there is none. */
export function createServers({
  document,
  url: place,
  serverUrl,
  variables,
}: ServersInput): (operation: JsonObject, pathItem: JsonObject) => string {
  const known = new Map<Node, string | Unusable>();
  // The address of a file cannot be that of a service.
  const url = place !== null && /^https?:$/.test(place.protocol) ? place : null;

  /** The first usable server, or the reason why there is none. */
  function choose(servers: JsonObject[]): string | Unusable {
    let reason: Unusable | undefined;
    for (const server of servers) {
      try {
        return resolveServer(server, url, variables);
      } catch (error) {
        if (!(error instanceof Unusable)) throw error;
        reason ??= error;
      }
    }
    return reason ?? new Unusable('The document names no server: give server_url');
  }

  function listed(node: Node): JsonObject[] {
    return listAt(node).filter(isObject);
  }

  return (operation, pathItem) => {
    const old = document.format === '2.0';
    const [own2, own1] = [listed(own(operation, 'servers')), listed(own(pathItem, 'servers'))];
    const key: Node = serverUrl ?? (old ? JSON.stringify(own(operation, 'schemes') ?? null) : (own2[0] ?? own1[0] ?? null));
    let chosen = known.get(key);
    if (chosen === undefined) {
      const global = listed(own(document.root, 'servers'));
      // OpenAPI: without any servers, there is one with the address `/`.
      const servers = [own2, own1, global].find(({ length }) => length > 0) ?? [{ url: '/' }];
      chosen = choose(serverUrl !== null ? [{ url: serverUrl }] : old ? oldServers(document.root, operation, url) : servers);
      known.set(key, chosen);
    }
    if (chosen instanceof Unusable) throw new Unusable(chosen.message);
    return chosen;
  };
}

/** The servers of a Swagger 2.0 document, https first. A missing host or scheme is that of the document's address. */
function oldServers(root: JsonObject, operation: JsonObject, url: URL | null): JsonObject[] {
  const host = textAt(own(root, 'host')) ?? url?.host;
  const path = textAt(own(root, 'basePath')) ?? '/';
  const given = listAt(own(operation, 'schemes') ?? own(root, 'schemes')).filter((scheme) => typeof scheme === 'string');
  const schemes = given.length > 0 ? given.toSorted((a, b) => Number(b === 'https') - Number(a === 'https')) : [schemeOf(url)];
  if (host === undefined || host === '') throw new Unusable('The document names no host: give server_url');
  return schemes.map((scheme) => ({ url: `${scheme}://${host}${path.startsWith('/') ? '' : '/'}${path}` }));
}

function schemeOf(url: URL | null): string {
  return url?.protocol === 'http:' ? 'http' : 'https';
}

function resolveServer(server: JsonObject, base: URL | null, variables: Readonly<Record<string, string>>): string {
  const template = textAt(own(server, 'url'))?.trim() ?? '/';
  const filled = fillIn(template, objectAt(own(server, 'variables')), variables);
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(filled);
  if (!isAbsolute && base === null) throw new Unusable(`The server ${template} has no host, and the document no address: give server_url`);
  const address = URL.parse(filled, base?.href);
  if (address === null) throw new Unusable(`The server ${template} is not a valid address: give server_url`);
  if (address.protocol !== 'http:' && address.protocol !== 'https:') {
    throw new Unusable(
      `The server ${template} uses ${address.protocol.slice(0, -1)}, but only http and https are supported: give server_url`,
    );
  }
  if (address.username !== '' || address.password !== '') throw new Unusable('The server has a user in its address: give server_url');
  if (address.search !== '' || address.hash !== '')
    throw new Unusable(`The server ${template} has a query or a fragment in its address: give server_url`);
  // A relative address may climb from the document's address; dots in an absolute address would hide where it leads.
  if (isAbsolute && filled.split(/[/\\]/).some(isDotSegment))
    throw new Unusable(`The server ${template} has . or .. in its address: give server_url`);
  return address.href.replace(/\/+$/, '');
}

function fillIn(template: string, declared: JsonObject, given: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{([^{}]*)\}/g, (_, name: string, at: number) => {
    const variable = objectAt(own(declared, name));
    const value = Object.hasOwn(given, name) ? given[name] : wordAt(own(variable, 'default'));
    if (value === undefined) throw new Unusable(`The server ${template} needs ${name}: give it in server_variables`);
    const allowed = listAt(own(variable, 'enum')).map(wordAt);
    if (allowed.length > 0 && !allowed.includes(value)) {
      throw new Unusable(
        `The server ${template} does not allow ${JSON.stringify(value)} for ${name}: use one of ${allowed.join(', ').slice(0, 300)}`,
      );
    }
    if (!fits(value, template.slice(0, at), template.slice(at + name.length + 2)))
      throw new Unusable(`The variable ${name} of the server ${template} may not be ${JSON.stringify(value)}`);
    return value;
  });
}

/** A value may not reach beyond its part of the address: a value for a subdomain cannot name another host. */
function fits(value: string, before: string, after: string): boolean {
  if (/[\s?#@\\\p{Cc}]/u.test(value)) return false;
  if (before === '') return true;
  const isHost = /^[^/]*\/\/[^/]*$/.test(before);
  if (isHost && /^[A-Za-z0-9._:-]+$/.test(value)) return true;
  // After a complete host, the value may begin the path.
  const isPath = !isHost || (!before.endsWith('/') && value.startsWith('/') && /^(\/|$)/.test(after));
  return isPath && !value.split('/').some(isDotSegment);
}
