/** The media type without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

export function isJsonType(contentType: string): boolean {
  const type = mediaType(contentType);
  return type === 'application/json' || type.endsWith('+json') || type === 'text/json';
}

interface MediaTypeParameter {
  /** In lower case. */
  name: string;
  value: string;
  /** The parameter as the header writes it. */
  written: string;
}

/** RFC 9110 §5.6.6. */
export function parametersOf(contentType: string): MediaTypeParameter[] {
  const found = contentType.matchAll(/;\s*([\w!#$%&'*+.^`|~-]+)=("[^"\\]*"|[^\s;"]*)/g);
  return [...found].map(([, name = '', value = '']) => {
    return { name: name.toLowerCase(), value: value.replaceAll('"', ''), written: `${name}=${value}` };
  });
}

/** The charset in lower case; undefined if it is UTF-8, the default. */
export function charsetOf(contentType: string): string | undefined {
  if (!/charset/i.test(contentType)) return undefined;
  const label = parametersOf(contentType)
    .find(({ name }) => name === 'charset')
    ?.value.toLowerCase();
  return label === 'utf-8' || label === 'utf8' ? undefined : label;
}
