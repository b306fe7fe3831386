import { CribError } from '../../../model/crib-error.ts';
import { registryOf } from '../../../net/docker/registry-auth.ts';

const noTag = /manifest unknown|manifest for \S+ not found|name unknown|not found: manifest|failed to resolve reference \S+ not found/i;
const noAccess =
  /pull access denied|repository does not exist|requested access to the resource is denied|unauthorized|authentication required|no basic auth/i;
const tooMany = /toomanyrequests|rate limit/i;
const unreachable =
  /dial tcp|no such host|i\/o timeout|connection refused|connection reset|Client\.Timeout|TLS handshake|x509:|EOF|network is unreachable/i;
const otherProcessor = /no matching manifest for/i;

/** [ERR-1] Why an image could not be pulled, and what to do. */
export function explainPullFailure(image: string, words: string): CribError {
  const registry = registryOf(image).replace('https://index.docker.io/v1/', 'Docker Hub');
  const said = `Docker said: ${words.slice(0, 500)}`;
  if (noAccess.test(words)) {
    const login = registry === 'Docker Hub' ? '`docker login`' : `\`docker login ${registry}\``;
    const advice = `Either ${registry} has no such image, or it requires a login: check the name, or run ${login} as the account that runs Toolcrib`;
    return new CribError('NOT_FOUND', `Package not found: the image ${image}. ${advice}. ${said}`);
  }
  if (noTag.test(words))
    return new CribError('NOT_FOUND', `Package not found: ${registry} has no image ${image}. Check its name and tag. ${said}`);
  if (otherProcessor.test(words))
    return new CribError('NOT_FOUND', `The image ${image} does not support the processor of this machine. Choose another. ${said}`, {
      retryable: false,
    });
  if (tooMany.test(words))
    return new CribError(
      'SERVICE_UNAVAILABLE',
      `${registry} allows no more pulls for now. Log in with \`docker login\`, or try later. ${said}`,
    );
  if (unreachable.test(words)) {
    const advice = 'Check the network of the machine where Docker runs, or fetch the image some other way and set `pull: never`';
    return new CribError('SERVICE_UNAVAILABLE', `The image ${image} is not here, and Docker cannot reach ${registry}. ${advice}. ${said}`);
  }
  return new CribError('SERVICE_UNAVAILABLE', `The image ${image} could not be pulled. ${said}`);
}
