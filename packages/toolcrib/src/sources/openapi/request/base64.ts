import { badArgument } from './bad-argument.ts';

const form = /^[A-Za-z0-9+/]*={0,2}$/;

export function checkedBase64(text: string, argument: string): string {
  if (text.length % 4 === 0 && form.test(text)) return text;
  throw badArgument(argument, 'must be bytes in base64 (RFC 4648 §4, with padding)');
}

export function bytesOf(text: string, argument: string): Buffer {
  return Buffer.from(checkedBase64(text, argument), 'base64');
}
