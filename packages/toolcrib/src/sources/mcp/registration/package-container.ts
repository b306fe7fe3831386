import { containerSettings, usualContainer, type MadeContainer } from './container-settings.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import type { RegistrationContext } from '../../registration/registration-context.ts';

/** How the container of a docker package is made; refused for what is no docker package, on which it would have no effect. */
export function packageContainer(form: McpRegistration, context: RegistrationContext, isDocker: boolean): MadeContainer {
  if (!isDocker) refuseContainer(form);
  return form.mcp_container === undefined ? usualContainer : containerSettings(form.mcp_container, context.allowedMounts ?? []);
}

export function refuseContainer({ mcp_container: form }: McpRegistration): void {
  if (form === undefined) return;
  const advice = 'Take it out; a command that says `docker run` itself has its own options';
  throw invalid('mcp_container', `mcp_container is for docker packages and for servers inside a container, and this is neither. ${advice}`);
}
