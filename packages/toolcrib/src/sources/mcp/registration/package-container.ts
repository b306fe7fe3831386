import { containerSettings, usualContainer, type MadeContainer } from './container-settings.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import type { McpRegistrationContext } from './mcp-registration-context.ts';

/** The container settings of a docker package. They are refused for other packages, where they would have no effect. */
export function packageContainer(form: McpRegistration, context: McpRegistrationContext, isDocker: boolean): MadeContainer {
  if (!isDocker) refuseContainer(form);
  return form.mcp_container === undefined ? usualContainer : containerSettings(form.mcp_container, context.allowedMounts ?? []);
}

export function refuseContainer({ mcp_container: form }: McpRegistration): void {
  if (form === undefined) return;
  const advice = 'Take it out; a command that is a `docker run` has its own options';
  throw invalid('mcp_container', `mcp_container is only for docker packages and for servers inside a container. ${advice}`);
}
