/** When a source is started again automatically, for people. */
export function describeRetry(retryAt: string, now = Date.now()): string {
  const seconds = Math.ceil((Date.parse(retryAt) - now) / 1000);
  return seconds > 0 ? `next in ${seconds} s` : 'now';
}
