import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider, ProviderInteraction } from 'oidc-provider';
import * as openid from 'openid-client';
import { callerAddress } from '../http/caller-address.ts';
import { CribError } from '../model/crib-error.ts';
import type { Store } from '../store/store.ts';
import type { BridgeAddress } from './bridge-address.ts';
import { errorPage, sendPage } from './bridge-page.ts';
import { shownName } from './client-metadata.ts';
import type { CompanySignIn, SignedIn } from './company-sign-in.ts';
import type { createCompleteLogin } from './complete-login.ts';
import { consentPage, type AskingClient } from './consent-page.ts';
import type { DevelopmentSignIn } from './development-sign-in.ts';
import type { FormTokens } from './form-token.ts';
import type { PendingSignIns } from './pending-sign-ins.ts';

/** Who signs people in. */
type Signing = { company: CompanySignIn; pending: PendingSignIns } | { development: DevelopmentSignIn };

interface ConsentRoutesInput {
  address: BridgeAddress;
  provider: () => Provider;
  store: Store;
  signing: Signing;
  complete: ReturnType<typeof createCompleteLogin>;
  formTokens: FormTokens;
  fixedClients: ReadonlySet<string>;
  idleDays: number;
  /** Refuses what comes too often, or under a host that is not ours. */
  admit(request: FastifyRequest): void;
  warn(message: string, error: unknown): void;
}

const proofCookie = 'toolcrib_login_development';
const config = { guarded: false, anyOrigin: true };

type Interacting = FastifyRequest<{ Params: { uid: string } }>;

/** [LOGIN-3] Asks the person, sends them to the provider, and takes them back. */
export class ConsentRoutes {
  readonly #input: ConsentRoutesInput;

  constructor(input: ConsentRoutesInput) {
    this.#input = input;
  }

  addTo(scope: FastifyInstance): void {
    const { admit } = this.#input;
    const answering =
      <Request extends FastifyRequest>(answer: (request: Request, reply: FastifyReply) => Promise<void>) =>
      async (request: Request, reply: FastifyReply) => {
        try {
          admit(request);
          await answer(request, reply);
        } catch (error) {
          this.#fail(reply, error);
        }
        return reply;
      };
    const route = '/login/interaction/:uid';
    scope.get(
      route,
      { config },
      answering((request: Interacting, reply) => this.#ask(request, reply)),
    );
    scope.post(
      route,
      { config },
      answering((request: Interacting, reply) => this.#answer(request, reply)),
    );
    if ('development' in this.#input.signing) return;
    const { company, pending } = this.#input.signing;
    scope.get(
      '/login/callback',
      { config },
      answering((request, reply) => this.#hop(pending, request, reply)),
    );
    scope.get(
      `${route}/back`,
      { config },
      answering((request: Interacting, reply) => this.#back(company, pending, request, reply)),
    );
  }

  async #ask(request: Interacting, reply: FastifyReply, fault?: string): Promise<void> {
    const { signing, address, formTokens, idleDays } = this.#input;
    const interaction = await this.#interaction(request, reply);
    const { uid, params } = interaction;
    const shown = {
      client: await this.#clientOf(interaction),
      resource: [params['resource']].flat().join(' '),
      idleDays,
      action: `${address.issuer}/interaction/${uid}`,
      formToken: formTokens.of(uid),
    };
    if (!('development' in signing)) return sendPage(reply, 200, consentPage(shown));
    const { users, secretFile, isProof } = signing.development;
    const isProven = fault === undefined && isProof(cookieOf(request, proofCookie));
    const choice = { users, fault, secretFile: isProven ? undefined : secretFile };
    sendPage(reply, fault === undefined ? 200 : 403, consentPage({ ...shown, choice }));
  }

  async #answer(request: Interacting, reply: FastifyReply): Promise<void> {
    const { signing, address, formTokens } = this.#input;
    const interaction = await this.#interaction(request, reply);
    const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
    const { origin } = request.headers;
    const isOwn = origin === undefined || origin === new URL(address.publicUrl).origin;
    if (!isOwn || !formTokens.fits(interaction.uid, form.get('form_token') ?? undefined))
      throw new CribError('FORBIDDEN', 'This answer did not come from the page that asks for it. Go back, and begin again');
    if (form.get('answer') !== 'allow') return this.#deny(interaction, request, reply, 'The person has denied it');
    if (!('development' in signing)) {
      const { url, begun } = await signing.company.begin();
      await signing.pending.add(interaction.uid, begun);
      return void reply.redirect(url, 303);
    }
    const { development } = signing;
    if (!development.isProof(cookieOf(request, proofCookie))) {
      if (!development.isSecret(form.get('secret') ?? '')) return this.#ask(request, reply, 'That is not the secret of this server');
      const options = `Path=/login; HttpOnly; SameSite=Lax; Max-Age=${30 * 86_400}`;
      void reply.header('set-cookie', `${proofCookie}=${development.proof()}; ${options}`);
    }
    const tokens = await development.tokensOf(form.get('user') ?? '');
    await this.#complete(interaction, { tokens, subject: undefined, session: undefined }, request, reply);
  }

  /** The cookie of the login is sent below its own path only, so the browser is sent there. Whether it is the right browser shows there. */
  async #hop(pending: PendingSignIns, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const found = await pending.find(new URLSearchParams(queryOf(request)).get('state') ?? '');
    if (found === undefined)
      throw new CribError('VALIDATION_ERROR', 'This sign-in was used before, or took too long. Begin again in your program');
    void reply.redirect(`${this.#input.address.issuer}/interaction/${found.uid}/back?${queryOf(request)}`, 303);
  }

  async #back(company: CompanySignIn, pending: PendingSignIns, request: Interacting, reply: FastifyReply): Promise<void> {
    const interaction = await this.#interaction(request, reply);
    const query = queryOf(request);
    const state = new URLSearchParams(query).get('state') ?? '';
    const found = await pending.find(state);
    if (found?.uid !== interaction.uid || !(await pending.take(state)))
      throw new CribError('FORBIDDEN', 'This sign-in belongs to another browser, or was used before. Begin again in your program');
    let signedIn: SignedIn;
    try {
      signedIn = await company.finish(found.begun, new URL(`${this.#input.address.callback}?${query}`));
    } catch (error) {
      if (!(error instanceof openid.AuthorizationResponseError)) throw error;
      return this.#deny(interaction, request, reply, `The identity provider has refused: ${error.error}`);
    }
    await this.#complete(interaction, signedIn, request, reply);
  }

  async #complete(
    interaction: ProviderInteraction,
    signedIn: { tokens: SignedIn['tokens']; subject: string | undefined; session: string | undefined },
    request: Interacting,
    reply: FastifyReply,
  ): Promise<void> {
    const { provider, complete } = this.#input;
    const { name, id } = await this.#clientOf(interaction);
    const result = await complete({ ...signedIn, interaction, clientName: name ?? id, address: callerAddress(request) });
    void reply.redirect(await provider().interactionResult(request.raw, reply.raw, result), 303);
  }

  async #deny(interaction: ProviderInteraction, request: Interacting, reply: FastifyReply, reason: string): Promise<void> {
    const { provider, store } = this.#input;
    const client = String(interaction.params['client_id']);
    await store.change(
      {
        kind: 'login-denied',
        topic: 'login',
        subject: client,
        actor: 'system',
        client,
        address: callerAddress(request),
        before: null,
        after: { reason },
      },
      () => Promise.resolve(),
    );
    const result = { error: 'access_denied', error_description: reason };
    void reply.redirect(await provider().interactionResult(request.raw, reply.raw, result), 303);
  }

  /** The login that this browser has begun. */
  async #interaction(request: Interacting, reply: FastifyReply): Promise<ProviderInteraction> {
    const found = await this.#input
      .provider()
      .interactionDetails(request.raw, reply.raw)
      .catch((cause: unknown) => {
        throw new CribError('VALIDATION_ERROR', 'This login was begun in another browser, or took too long. Begin again in your program', {
          cause,
        });
      });
    if (found.uid === request.params.uid) return found;
    throw new CribError('VALIDATION_ERROR', 'This login was begun in another browser. Begin again in your program');
  }

  async #clientOf({ params }: ProviderInteraction): Promise<AskingClient> {
    const id = String(params['client_id']);
    const client = await this.#input.provider().Client.find(id);
    const kind = this.#input.fixedClients.has(id) ? 'fixed' : /^https:/i.test(id) ? 'document' : 'registered';
    return { id, kind, name: shownName(client?.clientName), redirectUri: String(params['redirect_uri']) };
  }

  #fail(reply: FastifyReply, error: unknown): void {
    if (reply.sent) return;
    const known = error instanceof CribError ? error : undefined;
    if (known === undefined || known.cause !== undefined) this.#input.warn('A login failed', error);
    const text = known?.message ?? 'What the identity provider answered is not what was asked for. The log of this server says more.';
    sendPage(reply, known?.httpStatus ?? 400, errorPage('This login cannot go on', [`${text}.`.replace(/\.\.$/, '.')]));
  }
}

function queryOf({ raw }: FastifyRequest): string {
  const { url = '' } = raw;
  return url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
}

function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  const found = (headers.cookie ?? '').split(/;\s*/).find((cookie) => cookie.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}
