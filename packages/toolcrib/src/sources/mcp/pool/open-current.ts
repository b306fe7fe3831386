import type { McpSession } from '../session/mcp-session.ts';

/** [ENV-1] Opens a session. If a secret has changed meanwhile, the session has an old value, and another is opened. */
export async function openCurrent(open: () => Promise<McpSession>): Promise<McpSession> {
  for (;;) {
    const session = await open();
    try {
      if (((await session.changedSecrets?.()) ?? []).length === 0) return session;
    } catch (error) {
      await session.close();
      throw error;
    }
    await session.close();
  }
}
