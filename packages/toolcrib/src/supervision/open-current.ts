import type { McpSession } from '../sources/mcp/mcp-session.ts';

/** [ENV-1] Opens a session that no secret has changed under meanwhile; what begins with an old value is of no use. */
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
