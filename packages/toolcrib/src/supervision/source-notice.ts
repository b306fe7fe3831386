/** What befell a source that its status does not count. */
export type SourceNotice = 'restarted' | 'heartbeat-failed';
