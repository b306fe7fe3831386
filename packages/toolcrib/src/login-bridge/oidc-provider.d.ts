/** The part of `oidc-provider` 9.13 that is used here. The types published for it are of an earlier version, and bring those of Koa along. */
declare module 'oidc-provider' {
  import type { FastifyReply, FastifyRequest } from 'fastify';

  type IncomingMessage = FastifyRequest['raw'];
  type ServerResponse = FastifyReply['raw'];

  export interface ProviderClient {
    readonly clientId: string;
    readonly clientName?: string;
    readonly redirectUris: string[];
    readonly tokenEndpointAuthMethod: string;
    grantTypeAllowed(type: string): boolean;
  }

  export interface ProviderContext {
    readonly req: IncomingMessage;
    readonly path: string;
    status: number;
    type: string;
    body: unknown;
    set(name: string, value: string): void;
    readonly oidc: {
      readonly client?: ProviderClient;
      readonly params: Record<string, unknown>;
      readonly result?: { login?: object };
      readonly session?: { destroyed?: boolean };
      readonly route: string;
    };
  }

  export interface ProviderInteraction {
    readonly uid: string;
    readonly params: Record<string, unknown>;
    readonly returnTo: string;
  }

  export interface ProviderToken {
    readonly kind: string;
    readonly clientId: string;
    readonly grantId?: string;
  }

  export interface ProviderGrant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    proxy: boolean;
    readonly OIDCContext: { prototype: object };
    readonly Client: {
      find(id: string): Promise<ProviderClient | undefined>;
      validate(metadata: object): Promise<void>;
    };
    readonly Grant: new (input: { accountId: string; clientId: string }) => ProviderGrant;
    readonly RefreshToken: { find(token: string): Promise<ProviderToken | undefined> };
    urlFor(name: string, options?: object): string;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<ProviderInteraction>;
    interactionResult(request: IncomingMessage, response: ServerResponse, result: object): Promise<string>;
    on(event: 'authorization.success', listener: (context: ProviderContext) => void): this;
    on(event: 'server_error', listener: (context: ProviderContext, error: Error) => void): this;
  }

  export const errors: Record<
    'InvalidGrant' | 'InvalidTarget' | 'InvalidRequest' | 'InvalidClientMetadata' | 'InvalidRedirectUri',
    new (description?: string) => Error & { error: string; error_description: string }
  >;

  export namespace interactionPolicy {
    interface Check {
      readonly reason: string;
    }
    const Check: new (reason: string, description: string, error: string, check: (context: ProviderContext) => boolean) => Check;
    function base(): { get(name: string): { checks: { add(check: Check): void } } };
  }
}
