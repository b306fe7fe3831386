const pattern = /^toolcrib:\/\/calls\/([0-9a-f-]{36})\/artifacts\/(\d{1,6})$/;

/** Names a part of an answer that was too large to be given. */
export function artifactUri(callId: string, n: number): string {
  return `toolcrib://calls/${callId}/artifacts/${n}`;
}

export function parseArtifactUri(uri: string): { callId: string; n: number } | undefined {
  const [, callId, n] = pattern.exec(uri) ?? [];
  return callId === undefined || n === undefined ? undefined : { callId, n: Number(n) };
}
