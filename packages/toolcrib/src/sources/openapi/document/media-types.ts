import type { BodyForm } from '../../../model/http-operation.ts';

/** RFC 9110 §8.3.1, with ranges such as `image/*`. */
const legal =
  /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+(\s*;\s*[!#$%&'*+.^_`|~0-9a-z-]+=("[^"\\\p{Cc}]*"|[!#$%&'*+.^_`|~0-9a-z-]+))*$/iu;

export function isMediaType(text: string): boolean {
  return text.length <= 200 && legal.test(text);
}

/** In lower case, without parameters. */
export function bareType(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

export function isJson(mediaType: string): boolean {
  return /^application\/json$|^text\/json$|\+json$/.test(bareType(mediaType));
}

export function isText(mediaType: string): boolean {
  return /^text\/|[/+](xml|yaml|x-yaml|csv)$|^application\/(graphql|javascript|jsonl|jsonlines|sql|xml-.*|json-seq|jwt|.*ndjson)$/.test(
    bareType(mediaType),
  );
}

/** [OAS-2] How an argument becomes a body of this type. */
export function bodyKind(mediaType: string): BodyForm['kind'] {
  const type = bareType(mediaType);
  if (isJson(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type.startsWith('multipart/')) return 'multipart';
  return isText(type) ? 'text' : 'binary';
}

const preference: BodyForm['kind'][] = ['json', 'form', 'multipart', 'text', 'binary'];

/** Lower is better: by kind, and `application/json` before other JSON types. */
export function rankOf(mediaType: string, kind: BodyForm['kind']): number {
  return preference.indexOf(kind) * 2 + (kind === 'json' && bareType(mediaType) !== 'application/json' ? 1 : 0);
}

/** Whether a type names only a syntax, and no meaning. */
export function isPlain(mediaType: string): boolean {
  return /^(?:application|text)\/(?:x-)?(?:json|xml|yaml|www-form-urlencoded)$|^multipart\/form-data$/.test(bareType(mediaType));
}

/** Whether any value can be written in this type as JSON: JSON is valid YAML, and plain text with fields is JSON in practice. */
export function takesJsonText(mediaType: string): boolean {
  return /^text\/plain$|[/+](?:x-)?yaml$/.test(bareType(mediaType));
}
