/**
 * The allowed prefixes of other documents' addresses, made absolute. A bare host gets a slash at the end, so that `https://example.org`
 * does not allow `https://example.org.evil.net`.
 */
export function allowedBeginnings(listed: readonly string[], base: URL | null): string[] {
  return listed.flatMap((entry) => {
    const url = URL.parse(entry, base?.href);
    if (url === null || !/^(?:https?|file):$/.test(url.protocol)) return [];
    // Only a document that is itself a file may refer to files.
    return url.protocol === 'file:' && base?.protocol !== 'file:' ? [] : [url.href];
  });
}
