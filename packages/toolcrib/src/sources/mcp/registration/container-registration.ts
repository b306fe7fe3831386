import { takeArgumentSecrets } from './argument-secrets.ts';
import { checkProgram } from './command-safety.ts';
import type { ContainerForm } from './container-form.ts';
import { containerSettings, usualContainer } from './container-settings.ts';
import type { Draft } from '../../registration/draft.ts';
import type { DefinitionParts } from './flat-registration.ts';
import { flatFields } from './flat-fields.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import { checkImage, shorten } from './package-spec.ts';
import type { ReadPackage } from './read-package.ts';
import type { McpRegistrationContext } from './mcp-registration-context.ts';

/** Whether a registration describes a server inside a container, and not only the container settings of a package. */
export function isInContainer(registration: McpRegistration, described: ReadPackage | undefined): boolean {
  const { mcp_container: form, mcp_plugin_dir, mcp_command } = registration;
  if (form === undefined) return false;
  const saysWhatIsStarted = form.container ?? form.image ?? form.command ?? form.env;
  return saysWhatIsStarted !== undefined || (described === undefined && mcp_plugin_dir === undefined && mcp_command === undefined);
}

/** [SRC-3] A server that is started by `docker exec`, in a running container or in one that is created from an image. */
export function containerRegistration(
  draft: Draft,
  registration: McpRegistration,
  described: ReadPackage | undefined,
  context: McpRegistrationContext,
): DefinitionParts {
  const form: ContainerForm = registration.mcp_container ?? {};
  refuseOtherFields(registration, form, described);
  const { container: name, image, command } = form;
  if (name === undefined && image === undefined)
    throw invalid('mcp_container.container', 'Name a running container as container, or the image to create one from as image');
  if (name !== undefined && image !== undefined)
    throw invalid('mcp_container.image', 'container and image describe the same thing twice. Take one of them out');
  if (command === undefined) throw invalid('mcp_container.command', 'Give the program to start inside the container, and its arguments');
  checkProgram(command, 'mcp_container.command');

  if (name !== undefined) refuseSettings(form);
  const { settings } = name === undefined ? containerSettings(form, context.allowedMounts ?? []) : usualContainer;
  if (image !== undefined) checkImage(image, 'mcp_container.image');
  else if (!/^[a-z0-9][\w.-]{0,254}$/i.test(name ?? ''))
    throw invalid('mcp_container.container', `${shorten(name ?? '')} is not the name or id of a container`);
  for (const [variable, input] of Object.entries(form.env ?? {}))
    draft.setVariable(variable, input, { field: 'mcp_container.env', secret: false });
  return {
    parts: {
      transport_type: 'stdio',
      runtime_hint: 'docker',
      command: takeArgumentSecrets(command, draft.putAside),
      container: { name: name ?? null, image: image ?? null, workdir: form.workdir ?? null, user: form.user ?? null, settings },
    },
    starts: { runtime: 'docker', runs: [name ?? image ?? ''] },
  };
}

/** The container exists already, so settings for creating it would have no effect. */
function refuseSettings(form: ContainerForm): void {
  const settings = ['limits', 'network', 'read_only', 'tmpfs', 'mounts', 'pull'] as const;
  const given = settings.find((field) => form[field] !== undefined);
  if (given !== undefined)
    throw invalid(
      `mcp_container.${given}`,
      `${given} has no effect on a container that is already running. Take it out, or give an image instead`,
    );
}

function refuseOtherFields(registration: McpRegistration, form: ContainerForm, described: ReadPackage | undefined): void {
  const instead = { mcp_cwd: 'workdir', mcp_env_vars: 'env', mcp_args: 'command', mcp_command: 'command' } as Record<string, string>;
  if (described !== undefined) {
    const inner = (['container', 'image', 'command', 'env'] as const).find((field) => form[field] !== undefined) ?? 'image';
    throw invalid(
      `mcp_container.${inner}`,
      `With ${described.field('package')}, mcp_container holds only the settings of its container. Take ${inner} out`,
    );
  }
  const given = flatFields.find((field) => field !== 'mcp_transport_type' && registration[field] !== undefined);
  if (given !== undefined) {
    const advice = instead[given] === undefined ? 'Take one of them out' : `Take it out, and use mcp_container.${instead[given]}`;
    throw invalid(given, `${given} and mcp_container describe the same thing twice. ${advice}`);
  }
  if (registration.mcp_transport_type !== undefined && registration.mcp_transport_type !== 'stdio')
    throw invalid('mcp_transport_type', 'A server inside a container always uses stdio. Take mcp_transport_type out');
  if (registration.headers !== undefined)
    throw invalid('headers', 'A server inside a container gets no headers. Use mcp_container.env instead');
  const credential = (['credential', 'discovery_credential', 'credential_env'] as const).find((field) => registration[field] !== undefined);
  if (credential === undefined) return;
  const why = 'All callers share the container, so it cannot have a credential of its own for each user';
  throw invalid(
    credential,
    `${why}. Use a docker package, which has a container for every process, or put shared secrets into mcp_container.env`,
  );
}
