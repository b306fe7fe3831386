type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of ours that let the docker command find the same engine as we do. */
export function dockerEnvironment(host: string | undefined, environment: Environment): Record<string, string> {
  const given: Environment = {
    DOCKER_HOST: host,
    DOCKER_CONFIG: environment['DOCKER_CONFIG'],
    // A host takes precedence over a context.
    DOCKER_CONTEXT: host ? undefined : environment['DOCKER_CONTEXT'],
    DOCKER_CERT_PATH: environment['DOCKER_CERT_PATH'],
    DOCKER_TLS_VERIFY: environment['DOCKER_TLS_VERIFY'],
  };
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => !!entry[1]));
}
