import { matchesGlob } from './glob.ts';

interface Image {
  name: string;
  tag: string | undefined;
  digest: string | undefined;
}

/** Whether a rule allows an image. A rule without a tag allows every tag; one with a digest allows that digest only. */
export function isImageAllowed(rules: readonly string[], image: string): boolean {
  const wanted = readImage(image);
  return rules.some((text) => {
    const rule = readImage(text);
    if (!matchesGlob(rule.name, wanted.name)) return false;
    if (rule.digest !== undefined) return rule.digest === wanted.digest;
    // Where there is a digest Docker ignores the tag, and so do we.
    if (rule.tag !== undefined) return wanted.digest === undefined && matchesGlob(rule.tag, wanted.tag ?? 'latest');
    return true;
  });
}

export function hasDigest(image: string): boolean {
  return readImage(image).digest !== undefined;
}

/** `docker.io/library/redis` is `redis`. */
function readImage(text: string): Image {
  const [, name = text, tag, digest] = /^(.+?)(?::([^:/@]+))?(?:@(sha256:.+))?$/.exec(text) ?? [];
  return { name: name.replace(/^(?:index\.)?docker\.io\//, '').replace(/^library\//, ''), tag, digest };
}
