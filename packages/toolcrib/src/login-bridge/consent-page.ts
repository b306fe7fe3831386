import { bridgePage, markup, type Markup } from './bridge-page.ts';
import { redirectTarget } from './redirect-policy.ts';

/** What is known of a client that asks. */
export interface AskingClient {
  readonly id: string;
  /** As it calls itself, cleaned; undefined where it does not. */
  readonly name: string | undefined;
  /** Configured by the operator, described by a document at its own address, or registered by itself. */
  readonly kind: 'fixed' | 'document' | 'registered';
  readonly redirectUri: string;
}

export interface Consent {
  readonly client: AskingClient;
  /** The address of the door. */
  readonly resource: string;
  readonly idleDays: number;
  /** Where the form goes. */
  readonly action: string;
  /** Shows that the form comes from this page. */
  readonly formToken: string;
  /** In development: whom the person may choose to be. */
  readonly choice?:
    | {
        readonly users: readonly { username: string; text: string }[];
        readonly secretFile: string | undefined;
        readonly fault: string | undefined;
      }
    | undefined;
}

/** [LOGIN-3] The page that asks the person, before anybody signs in. It says what is known of the client, and what it only claims. */
export function consentPage({ client, resource, idleDays, action, formToken, choice }: Consent): string {
  const name = client.name ?? 'A program without a name';
  const title = `Let ${name} use your tools?`;
  const body = markup`
<p>${name} asks to use this Toolcrib <strong>in your name</strong>.${choice === undefined ? ' If you allow it, you sign in with your company next.' : ''}</p>
<dl>
<dt>Who asks</dt>
<dd>${whoAsks(client)}</dd>
<dt>Where the answer goes</dt>
<dd>${whereTo(client.redirectUri)}</dd>
<dt>At which address</dt>
<dd>${resource}</dd>
<dt>What it will be able to do</dt>
<dd>See and call every tool there that you may use, with your rights, and read what they answer. This ends when the program logs out, when you are
signed out at your company, or after ${String(idleDays)} days without use.</dd>
</dl>
<form method="post" action="${action}">
<input type="hidden" name="form_token" value="${formToken}">
${choice === undefined ? [] : whoToBe(choice)}
<div class="choices">
<button class="main" type="submit" name="answer" value="allow">Allow</button>
<button type="submit" name="answer" value="deny" formnovalidate>Deny</button>
</div>
</form>
<p>If you did not just begin to connect a program, deny.</p>`;
  return bridgePage(title, body);
}

function whoAsks({ id, name, kind, redirectUri }: AskingClient): Markup {
  if (kind === 'fixed') return markup`${name ?? id}, which the people who run this server have set up.`;
  const claimed = name === undefined ? 'It gives no name.' : `“${name}” is the name that it gives itself; nobody has checked it.`;
  if (kind === 'registered') return markup`<span class="claim">${claimed}</span> It has registered itself here.`;
  const { host } = new URL(id);
  const source = markup`It is described at <strong>${host}</strong> (${id}).`;
  if (redirectTarget(redirectUri).kind === 'web') return markup`<span class="claim">${claimed}</span> ${source}`;
  return markup`<span class="claim">${claimed}</span> ${source} <span class="claim">Any program on your computer could say that it is this one.</span>`;
}

function whereTo(redirectUri: string): Markup {
  const { kind, name } = redirectTarget(redirectUri);
  if (kind === 'web') return markup`The website <strong>${name}</strong>`;
  if (kind === 'machine') return markup`A program on your computer (${name})`;
  return markup`The app on your computer that opens <strong>${name}</strong> links`;
}

function whoToBe({ users, secretFile, fault }: NonNullable<Consent['choice']>): Markup {
  const options = users.map(
    ({ username, text }, index) =>
      markup`<label><input type="radio" name="user" value="${username}" required${index === 0 ? { markup: ' checked' } : []}> ${text}</label>`,
  );
  const secret =
    secretFile === undefined
      ? []
      : markup`<label>Development secret, which is in the file ${secretFile}
<input type="password" name="secret" autocomplete="off" required${fault === undefined ? [] : { markup: ' autofocus aria-describedby="fault"' }}></label>`;
  return markup`<fieldset>
<legend>This server is for development: choose who to be</legend>
${options}
${fault === undefined ? [] : markup`<p class="fault" id="fault" role="alert">${fault}</p>`}
${secret}
</fieldset>`;
}
