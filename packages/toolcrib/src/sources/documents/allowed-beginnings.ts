/** What addresses of other documents must begin with, made absolute: a host is whole, so that `example.org` is not `example.org.evil.net`. */
export function allowedBeginnings(listed: readonly string[], base: URL | null): string[] {
  return listed.flatMap((entry) => {
    const url = URL.parse(entry, base?.href);
    if (url === null || !/^(?:https?|file):$/.test(url.protocol)) return [];
    // Files are only for a document that is one.
    return url.protocol === 'file:' && base?.protocol !== 'file:' ? [] : [url.href];
  });
}
