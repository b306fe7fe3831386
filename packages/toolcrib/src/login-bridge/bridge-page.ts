import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

const style = `
:root { color-scheme: light dark; --edge: #8886; --quiet: #666; --main: #0b57d0; --on-main: #fff; --warn: #8a4b00 }
@media (prefers-color-scheme: dark) { :root { --quiet: #aaa; --main: #8ab4f8; --on-main: #10131a; --warn: #ffb95c } }
* { box-sizing: border-box }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 0 auto; padding: 2rem 1rem 4rem; overflow-wrap: anywhere }
h1 { font-size: 1.4rem; line-height: 1.3 }
dl { border: 1px solid var(--edge); border-radius: .5rem; padding: .25rem 1rem; margin: 1.5rem 0 }
dt { color: var(--quiet); font-size: .875rem; margin-top: .75rem }
dd { margin: 0 0 .75rem }
fieldset { border: 1px solid var(--edge); border-radius: .5rem; margin: 1.5rem 0; padding: .5rem 1rem 1rem }
label { display: block; padding: .4rem 0 }
input[type=password] { font: inherit; width: 100%; padding: .6rem; border: 1px solid var(--edge); border-radius: .4rem; margin-top: .25rem }
.choices { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem }
button { font: inherit; padding: .7rem 1.6rem; border-radius: .5rem; border: 1px solid var(--edge); background: transparent; color: inherit; cursor: pointer; flex: 1 1 8rem }
button.main { background: var(--main); border-color: var(--main); color: var(--on-main) }
button:focus-visible, input:focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
.claim { color: var(--warn) }
.fault { border-left: .3rem solid var(--warn); padding-left: .75rem }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * [LOGIN-3] No page of the bridge can be framed, runs a script, loads anything, or says where it was opened. `form-action` is left out: browsers
 * apply it to the redirects after a form too, which lead to the provider and on to whatever client it is.
 */
const pageHeaders = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** For every answer of the bridge, whoever makes it. */
export const bridgeHeaders: Readonly<Record<string, string>> = pageHeaders;

/** A part of a page, with everything in it escaped already. */
export type Markup = { readonly markup: string };

/** Fills in texts that are taken for nothing but texts. */
export function markup(parts: TemplateStringsArray, ...values: (string | Markup | readonly Markup[])[]): Markup {
  const filled = values.map((value) =>
    typeof value === 'string'
      ? escape(value)
      : [value]
          .flat()
          .map((one) => one.markup)
          .join(''),
  );
  return { markup: parts.reduce((text, part, index) => `${text}${filled[index - 1] ?? ''}${part}`) };
}

export function bridgePage(title: string, body: Markup): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(title)} - Toolcrib</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escape(title)}</h1>
${body.markup}
</main>
</body>
</html>
`;
}

export function errorPage(title: string, paragraphs: readonly string[]): string {
  return bridgePage(title, markup`${paragraphs.map((text) => markup`<p>${text}</p>`)}`);
}

export function sendPage(reply: FastifyReply, status: number, page: string): void {
  void reply.code(status).headers(bridgeHeaders).type('text/html; charset=utf-8').send(page);
}

function escape(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? '');
}
