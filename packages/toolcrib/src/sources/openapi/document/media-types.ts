import type { HttpRequestBody } from '../../../model/http-operation.ts';

/** RFC 9110 §8.3.1, with ranges such as `image/*`. */
const legal =
  /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+(\s*;\s*[!#$%&'*+.^_`|~0-9a-z-]+=("[^"\\\p{Cc}]*"|[!#$%&'*+.^_`|~0-9a-z-]+))*$/iu;

export function isMediaType(text: string): boolean {
  return text.length <= 200 && legal.test(text);
}

/** Without its parameters, in small letters. */
function bareType(mediaType: string): string {
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
export function bodyKind(mediaType: string): HttpRequestBody['kind'] {
  const type = bareType(mediaType);
  if (isJson(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type.startsWith('multipart/')) return 'multipart';
  return isText(type) ? 'text' : 'binary';
}

const preference: HttpRequestBody['kind'][] = ['json', 'form', 'multipart', 'text', 'binary'];

/** The one that serves best; of several of a kind, the plainest and then the first. */
export function preferredType(mediaTypes: readonly string[]): string | undefined {
  const rank = (type: string) => preference.indexOf(bodyKind(type)) * 2 + (isJson(type) && bareType(type) !== 'application/json' ? 1 : 0);
  return mediaTypes.filter(isMediaType).toSorted((a, b) => rank(a) - rank(b))[0];
}
