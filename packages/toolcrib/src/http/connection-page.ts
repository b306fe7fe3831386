/** A small page for a person whose browser comes back to us. Nothing in it is taken for markup. */
export function connectionPage(title: string, paragraphs: readonly string[]): string {
  const body = paragraphs.map((text) => `<p>${escape(text)}</p>`).join('\n');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escape(title)} - Toolcrib</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>${escape(title)}</h1>
${body}
</html>
`;
}

function escape(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? '');
}
