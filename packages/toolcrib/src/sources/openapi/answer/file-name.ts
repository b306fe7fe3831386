/** The file name in a Content-Disposition header (RFC 6266), made safe to show and to save under. Undefined if there is none. */
export function fileName(disposition: string): string | undefined {
  const [, extended] = /filename\*\s*=\s*(?:utf-8|iso-8859-1)'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted, plain] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  const given = decoded(extended) ?? utf8(quoted?.replaceAll(/\\(.)/g, '$1') ?? plain);
  // Keep only the last path segment. Remove invisible and direction-changing characters, and leading dots.
  const name = given
    ?.split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/[\p{C}<>:"|?*]/gu, '')
    .trim()
    .replace(/^\.+/, '')
    .slice(0, 200);
  return name === '' ? undefined : name;
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Headers are decoded as Latin-1, but many servers put UTF-8 into them. */
function utf8(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const read = Buffer.from(text, 'latin1').toString();
  return read.includes('\ufffd') ? text : read;
}
