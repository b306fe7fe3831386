/** A complete POST request as bytes. */
export function postBytes(path: string, body: object, headers: Record<string, string> = {}): string {
  const text = JSON.stringify(body);
  const fields = { host: '127.0.0.1', 'content-type': 'application/json', ...headers, 'content-length': Buffer.byteLength(text) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `${[`POST ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${text}`;
}
