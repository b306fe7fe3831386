import { randomBytes } from 'node:crypto';
import type { BodyForm } from '../../../model/http-operation.ts';
import type { Json } from '../../../model/json.ts';
import { argumentText, jsonText } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';
import { bytesOf } from './base64.ts';
import { encodedText } from './encoded-text.ts';
import { charsetOf, mediaType, parametersOf } from '../../upstream/http/media-type.ts';
import { writeForm } from './write-form.ts';
import { writeMultipart } from './write-multipart.ts';

export interface WrittenBody {
  contentType: string;
  content: string | Buffer;
}

export type MakeBoundary = () => string;

/** Too long and random for anybody to put into a part on purpose. */
export const randomBoundary: MakeBoundary = () => `toolcrib-${randomBytes(18).toString('hex')}`;

/** [OAS-2] The body of a request in the media type that the document asks for. */
export function writeBody(form: BodyForm, argument: string, value: Json, makeBoundary: MakeBoundary): WrittenBody {
  const { kind, content_type: contentType, encoding } = form;
  switch (kind) {
    case 'json':
      // Escaped JSON can be written in every charset.
      if (charsetOf(contentType) !== undefined) return { contentType, content: encodedText(jsonText(value), contentType, argument) };
      return { contentType, content: JSON.stringify(value) };
    case 'form':
      return { contentType, content: writeForm(value, argument, encoding) };
    case 'multipart': {
      const boundary = makeBoundary();
      return { contentType: withBoundary(contentType, boundary), content: writeMultipart(value, { argument, encoding }, boundary) };
    }
    case 'text': {
      const text = typeof value === 'object' ? JSON.stringify(value) : argumentText(value, argument);
      return { contentType, content: encodedText(text, contentType, argument) };
    }
    case 'binary':
      if (typeof value !== 'string') throw badArgument(argument, 'must be bytes in base64');
      return { contentType, content: bytesOf(value, argument) };
  }
}

/** Replaces a boundary in the document, which a part could contain. */
function withBoundary(contentType: string, boundary: string): string {
  const others = parametersOf(contentType).filter(({ name }) => name !== 'boundary');
  return [mediaType(contentType), ...others.map(({ written }) => written), `boundary=${boundary}`].join('; ');
}
