/** Options that npx and uvx may be given before the name of what they run: switches, and those with a value. Only harmless ones. */
export interface RunnerOptions {
  switches: readonly string[];
  valued: readonly string[];
}

export const npxOptions = {
  // Not --no: npx expands it so that it takes the package's name for a value, and reads on.
  switches: '-y --yes --no-install --offline --prefer-offline --prefer-online -q --quiet --silent --yes=false'.split(' '),
  valued: ['--package', '-p'],
} as const satisfies RunnerOptions;

export const uvxOptions = {
  switches: '-q --quiet -v --verbose --offline --isolated --native-tls --no-progress --refresh --no-cache -n --no-config'
    .concat(' --managed-python --no-build')
    .split(' '),
  valued: ['--from', '--with', '-w', '--python', '-p', '--prerelease', '--resolution', '--exclude-newer', '--link-mode'],
} as const satisfies RunnerOptions;
