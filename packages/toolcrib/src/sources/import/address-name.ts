/** Words that say what every service is, and not which one. */
const generic = new Set(['www', 'api', 'mcp', 'app', 'utcp']);

/** A name for a source that has none but its address: `https://api.weather.com/utcp` is `weather`. */
export function addressName(url: string): string {
  const { hostname, port } = URL.parse(url) ?? { hostname: 'utcp', port: '' };
  const labels = hostname.split('.');
  const isNumeric = /^[\d.]+$|^\[/.test(hostname);
  if (isNumeric || labels.length === 1) return port === '' ? hostname : `${hostname}-${port}`;
  // From the end, because the name of the organisation stands there; not the country, nor what stands before it as in `co.uk`.
  const telling = labels.slice(0, -1).reverse();
  return telling.find((label) => label.length > 2 && !generic.has(label)) ?? hostname;
}
