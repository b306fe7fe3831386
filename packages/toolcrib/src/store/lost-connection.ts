/** PostgreSQL's classes for "no connection" and "shutting down", and what a socket says. SQLite has no connection to lose. */
const lost = /^(08...|57P0[1-5]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH)$/;

/** Whether a statement failed because the database went away, and not because of its content. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string') return lost.test(error.code);
  // pg gives these no code.
  return /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/.test(error.message);
}
