import { CribError } from '../../model/crib-error.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { OpenSource, SourceHost } from '../open-source.ts';
import type { SourcePorts } from '../source-ports.ts';
import type { SourceKind } from '../source-type.ts';
import { builtinTools } from './builtin-tools.ts';
import { createBuiltinCalls } from './builtin-calls.ts';

/** [BI-1] [BI-2] The built-in tools need no network and no set-up; they run whenever Toolcrib does. */
export function openBuiltinKind({ settings, tools: others }: SourcePorts): SourceKind {
  const { version } = settings;
  const tools: DiscoveredTool[] = builtinTools.map(({ definition, tags }) => ({
    definition,
    tags: [...tags],
    version,
    execution_mode: 'builtin',
  }));

  function open(_source: unknown, host: SourceHost): OpenSource {
    let calls = createBuiltinCalls({ catalogue: others.catalogue });
    async function discover(): Promise<undefined> {
      await host.discovered(tools, { name: 'Toolcrib', version, protocol_version: '', instructions: null });
      host.ready(tools.length);
    }
    return {
      elsewhere: false,
      servesWhileStarting: true,
      hasHealth: false,
      perUser: false,
      reachable: true,
      info: null,
      start: discover,
      refresh: discover,
      call: (tool, args, context) => calls.call(tool, args, context),
      async close() {
        const closing = calls;
        calls = createBuiltinCalls({ catalogue: others.catalogue });
        await closing.close();
      },
    };
  }

  return {
    registrationContext: {},
    checkRun: () => undefined,
    checkSaved: async () => undefined,
    open,
    async preview() {
      throw new CribError('CONFLICT', 'The built-in tools cannot be changed');
    },
    release: async () => undefined,
  };
}
