import { join } from 'node:path';
import type { Part } from '../parts.ts';

/** Where the programs of `.ci/mcp-clients-up.sh` are, in the folder that it prints. */
export function clientPrograms(part: Part) {
  const folder = part.available ? part.url : '';
  const npm = (name: string) => join(folder, 'node_modules', '.bin', name);
  return {
    // These three are started with our own Node, since they need a newer one than some systems have.
    inspector: [process.execPath, npm('mcp-inspector'), '--cli'],
    gemini: [process.execPath, npm('gemini')],
    codex: [process.execPath, npm('codex')],
    claude: [npm('claude')],
    /** With the official SDK, the OpenAI Agents SDK and Pydantic AI. */
    python: [join(folder, 'python', 'bin', 'python'), '-B'],
    /** With LangChain's adapters, which need version 1 of the SDK. */
    langchain: [join(folder, 'langchain', 'bin', 'python'), '-B'],
  };
}
