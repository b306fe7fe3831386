/** [OPS-1] How many conversations with a source are open: its lasting one, those ready for a call, those of calls under way, those of users. */
export type SessionCounts = Record<'lasting' | 'standby' | 'call' | 'user', number>;
