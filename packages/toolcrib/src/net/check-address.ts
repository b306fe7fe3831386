import { CribError } from '../model/crib-error.ts';
import { isLoopbackHost } from './is-loopback-host.ts';

/** `allowInsecure` is for plain http to another machine. */
export type CheckAddress = (url: string | URL, allowInsecure: boolean) => URL;

/** [SEC-1] An address we are willing to send to: https, or plain http where that is this machine or has been allowed. */
export function checkAddress(url: string | URL, allowInsecure: boolean): URL {
  const target = URL.parse(String(url));
  if (!target) throw new CribError('VALIDATION_ERROR', 'The address is not a URL: give one such as https://example.org/mcp');
  if (target.username || target.password) {
    throw new CribError('VALIDATION_ERROR', `The address of ${target.host} contains a user name or password: use headers or a credential`);
  }
  if (target.protocol === 'https:') return target;
  if (target.protocol !== 'http:') throw new CribError('VALIDATION_ERROR', `Only https addresses can be used, not ${target.protocol}`);
  if (allowInsecure || isLoopbackHost(target.hostname)) return target;
  throw new CribError('VALIDATION_ERROR', `${target.origin} is plain http on another machine: use https, or set allow_insecure`);
}
