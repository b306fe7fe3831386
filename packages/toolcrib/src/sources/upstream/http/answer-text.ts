/** Decodes a body by its charset. JSON is always UTF-8 (RFC 8259 §8.1), so another charset is only used if UTF-8 does not fit. */
export function answerText(bytes: Buffer, contentType: string, { isJson }: { isJson: boolean }): string {
  const announced = /charset="?([\w.:-]{1,40})/i.exec(contentType)?.[1]?.toLowerCase() ?? 'utf-8';
  const isUtf8 = announced === 'utf-8' || announced === 'utf8' || announced === 'us-ascii';
  const text = withoutMark(isUtf8 || isJson ? bytes.toString() : decoded(bytes, announced));
  return isJson && !isUtf8 && text.includes('\ufffd') ? decoded(bytes, announced) : text;
}

function decoded(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    // Unknown charset.
    return bytes.toString();
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
