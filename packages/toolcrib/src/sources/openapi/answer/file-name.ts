/** The name that a file was sent under (RFC 6266), made safe to be shown and to be saved under; undefined where there is none. */
export function fileName(disposition: string): string | undefined {
  const [, extended] = /filename\*\s*=\s*(?:utf-8|iso-8859-1)'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted, plain] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  const given = decoded(extended) ?? utf8(quoted?.replaceAll(/\\(.)/g, '$1') ?? plain);
  // Only the last part of a path, nothing that hides or turns what is read, and no name that means a directory.
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

/** Headers are read as Latin-1, and many servers write UTF-8 into them all the same. */
function utf8(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const read = Buffer.from(text, 'latin1').toString();
  return read.includes('\ufffd') ? text : read;
}
