/** Host labels that do not tell one service from another. */
const generic = new Set(['www', 'api', 'mcp', 'app', 'utcp']);

/** Derives a source's name from its address: `https://api.weather.com/utcp` gives `weather`. */
export function addressName(url: string): string {
  const { hostname, port } = URL.parse(url) ?? { hostname: 'utcp', port: '' };
  const labels = hostname.split('.');
  const isNumeric = /^[\d.]+$|^\[/.test(hostname);
  if (isNumeric || labels.length === 1) return port === '' ? hostname : `${hostname}-${port}`;
  // From the end, where the name of the organisation is. Skips the top-level domain and short labels such as the `co` of `co.uk`.
  const telling = labels.slice(0, -1).reverse();
  return telling.find((label) => label.length > 2 && !generic.has(label)) ?? hostname;
}
