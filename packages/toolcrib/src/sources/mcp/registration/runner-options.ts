/** Harmless options of npx and uvx, which come before the name of the package: switches, and options with a value. */
export interface RunnerOptions {
  switches: readonly string[];
  valued: readonly string[];
}

export const npxOptions = {
  // Not --no: npx expands it to an option that takes the package's name as its value, and goes on reading options.
  switches: '-y --yes --no-install --offline --prefer-offline --prefer-online -q --quiet --silent --yes=false'.split(' '),
  valued: ['--package', '-p'],
} as const satisfies RunnerOptions;

export const uvxOptions = {
  switches: '-q --quiet -v --verbose --offline --isolated --native-tls --no-progress --refresh --no-cache -n --no-config'
    .concat(' --managed-python --no-build')
    .split(' '),
  valued: ['--from', '--with', '-w', '--python', '-p', '--prerelease', '--resolution', '--exclude-newer', '--link-mode'],
} as const satisfies RunnerOptions;
