type Paragraph = string | { code: string } | { href: string; text: string };

/** A small page for a person whose browser comes back to us. Nothing in it is taken for markup, and nothing in it runs. */
export function connectionPage(title: string, paragraphs: readonly Paragraph[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)} - Toolcrib</title>
<style>
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }
code { font-size: 1.5rem; user-select: all }
</style>
<h1>${escape(title)}</h1>
${paragraphs.map((paragraph) => `<p>${markup(paragraph)}</p>`).join('\n')}
</html>
`;
}

function markup(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return escape(paragraph);
  if ('code' in paragraph) return `<code>${escape(paragraph.code)}</code>`;
  return `<a href="${escape(paragraph.href)}">${escape(paragraph.text)}</a>`;
}

function escape(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? '');
}
